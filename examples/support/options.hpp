// Command-line options of the example programs: --name VALUE. Each is requested once, with its
// default.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/train/interrupt.hpp>

namespace examples {

// Prints the message of an error after the program's output; returns the exit status of a failure.
inline int failed(const char* message) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", message);
  return 1;
}

// Returns `status`, or the exit status of a failure if the program's output could not be written.
inline int with_output(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  const int failure = failed(
      "what the program prints could not be written whole (a pipe was closed, or a disk is full); "
      "files that it was to save are saved");
  return status == 0 ? failure : status;
}

class Options {
 public:
  Options(int argc, char** argv, std::string program, std::string purpose)
      : program_(std::move(program)),
        purpose_(std::move(purpose)),
        arguments_(argv + 1, argv + argc) {
    for (std::string& argument : arguments_)
      if (argument == "-h") argument = "--help";
    wants_help_ = std::count(arguments_.begin(), arguments_.end(), "--help") > 0;
    used_.resize(arguments_.size());
  }

  // Options that most programs have.
  std::string device() {
    return get("--device", "auto|cpu|cuda[:N]", "where to run; auto: a GPU if there is one",
               "auto");
  }
  int threads() { return get("--threads", "N", "processor threads; 0: all", 0, 0); }
  std::uint64_t seed(std::uint64_t fallback) {
    return get("--seed", "N", "seed of all random numbers", fallback);
  }
  gpunet::index_t epochs(gpunet::index_t fallback) {
    return get("--epochs", "N", "times through all of the training set", fallback,
               gpunet::index_t{0});
  }
  gpunet::index_t batch_size(gpunet::index_t fallback) {
    return get("--batch-size", "N", "samples per step", fallback, gpunet::index_t{1});
  }
  float lr(float fallback) { return get("--lr", "X", "learning rate", fallback, 0.0f); }
  // Returns the folder of a dataset, empty for the built-in one.
  std::string data(const char* files) {
    return get("--data", "DIR", concat("folder of ", files, "; built-in ones without it").c_str(),
               "");
  }

  // Returns a text.
  std::string get(const char* name, const char* value, const char* help, std::string fallback) {
    describe(name, value, fallback.empty() ? help : concat(help, " (", fallback, ")"));
    for (std::string& text : values(name, value))
      fallback = std::move(text);
    return fallback;
  }
  // Returns one of some words; the first is the default.
  std::string choice(const char* name, const std::vector<std::string>& words, const char* help) {
    std::string all;
    for (const std::string& word : words)
      all += all.empty() ? word : "|" + word;
    const std::string chosen = get(name, all.c_str(), help, words.front());
    require(std::count(words.begin(), words.end(), chosen) > 0, name,
            concat("'", chosen, "' (want ", all, ")"));
    return chosen;
  }
  // Returns a number from `least` to `most`.
  template <class N>
  requires std::is_arithmetic_v<N> N get(const char* name, const char* value, const char* help,
                                         N fallback, N least = std::numeric_limits<N>::lowest(),
                                         N most = std::numeric_limits<N>::max()) {
    describe(name, value, concat(help, " (", fallback, ")"));
    for (const std::string& text : values(name, value)) {
      fallback = number<N>(name, text);
      const bool open = most == std::numeric_limits<N>::max();
      require(least <= fallback && fallback <= most, name,
              concat(text, " (want ", least, open ? " or more)" : concat(" to ", most, ")")));
    }
    return fallback;
  }
  // Returns whether an option without a value is given.
  bool flag(const char* name, const char* help) {
    describe(name, "", help);
    bool given = false;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      require(!arguments_[i].starts_with(concat(name, "=")), name, "takes no value");
      if (arguments_[i] == name) given = used_[i] = true;
    }
    return given;
  }
  // Returns all values, texts or whole numbers, of an option that may be given several times.
  template <class T>
  std::vector<T> all(const char* name, const char* value, const char* help) {
    describe(name, value, help);
    std::vector<T> list;
    for (std::string& text : values(name, value))
      if constexpr (std::integral<T>)
        list.push_back(number<T>(name, text));
      else
        list.push_back(std::move(text));
    return list;
  }

  // Call this after requesting all options. Prints the help and ends the program for --help. Throws
  // Error for unknown options.
  void finish() const {
    if (wants_help_) print_help();
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      gpunet::require(used_[i], program_, ": unknown option '",
                      arguments_[i].substr(0, arguments_[i].find('=')), "', see ", program_,
                      " --help");
  }

 private:
  template <class... Parts>
  static std::string concat(const Parts&... parts) {
    return gpunet::concat(parts...);
  }
  void require(bool ok, const char* name, const std::string& what) const {
    gpunet::require(ok, program_, ": ", name, " ", what);
  }
  void describe(const char* name, const char* value, const std::string& help) {
    std::string line = concat("  ", name, " ", value);
    line += line.size() < 27 ? std::string(27 - line.size(), ' ') : "\n" + std::string(27, ' ');
    help_ += line + help + "\n";
  }

  // Returns the value for each time that the name is given: "--name VALUE" or "--name=VALUE".
  std::vector<std::string> values(const char* name, const char* value) {
    std::vector<std::string> found;
    if (wants_help_) return found;  // even if other options are invalid
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const std::string& argument = arguments_[i];
      if (argument.starts_with(concat(name, "="))) {
        found.push_back(argument.substr(argument.find('=') + 1));
        used_[i] = true;
      } else if (argument == name) {
        require(i + 1 < arguments_.size() && !arguments_[i + 1].starts_with("--"), name,
                concat("has no value (want ", value, ")"));
        used_[i] = used_[i + 1] = true;
        found.push_back(arguments_[++i]);
      }
    }
    return found;
  }
  template <class N>
  N number(const char* name, const std::string& text) const {
    N value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool in_range =
        error != std::errc::result_out_of_range && !(value - value != N{});  // no NaN, no infinity
    require(error == std::errc() && end == text.data() + text.size() && in_range, name,
            concat("'", text, "' is not a ", std::integral<N> ? "whole " : "", "number",
                   in_range ? "" : " in range"));
    return value;
  }
  [[noreturn]] void print_help() const {
    std::printf("usage: %s [options]\n%s\n\n%s  %-24s %s\n", program_.c_str(), purpose_.c_str(),
                help_.c_str(), "--help", "print this and stop");
    std::exit(with_output(0));
  }

  std::string program_, purpose_, help_;
  std::vector<std::string> arguments_;
  std::vector<bool> used_;
  bool wants_help_ = false;
};

// Ends f() below after an interrupt, in a program that has nothing to save.
struct Interrupted {
  int status;
};
inline void end_if_interrupted() {
  if (const gpunet::train::InterruptGuard guard; guard.interrupted())
    throw Interrupted{guard.exit_status()};
}

// Returns the exit status of main: that of f(), 0 if f returns nothing, or 1 after the message of
// an error. If the output is closed (`| head -1`), the program continues and saves its files.
template <class F>
int exit_status(F f) try {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // lines arrive in a pipe when they are written
  // Would end the program; the error of write() suffices.
  for (const int signal : {SIGPIPE, SIGXFSZ})
    std::signal(signal, SIG_IGN);
  if constexpr (std::is_void_v<decltype(f())>)
    return f(), with_output(0);
  else
    return with_output(f());
} catch (const Interrupted& interrupted) {
  std::puts("Interrupted");
  return interrupted.status;
} catch (const std::bad_alloc&) {
  return failed("there is not enough memory for this, make the largest of the options smaller");
} catch (const std::exception& error) {
  return failed(error.what());
}

}  // namespace examples
