// Command-line options of the example programs: --name VALUE, each bound to a variable that holds its default.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>

namespace examples {

class Options {
 public:
  Options(std::string program, std::string purpose) : program_(std::move(program)), purpose_(std::move(purpose)) {}

  void add(const char* name, const char* value, const char* help, std::string& target) {
    options_.push_back({name, value, help, [&target](std::string_view text) {
                          target = text;
                        }});
  }
  // An option without a value.
  void add(const char* name, const char* help, bool& target) {
    options_.push_back({name, "", help, [&target](std::string_view) {
                          target = true;
                        }});
  }
  // Options that may be given several times.
  void add(const char* name, const char* value, const char* help, std::vector<std::string>& target) {
    options_.push_back({name, value, help, [&target](std::string_view text) {
                          target.emplace_back(text);
                        }});
  }
  template <std::integral N>
  void add(const char* name, const char* value, const char* help, std::vector<N>& target) {
    options_.push_back({name, value, help, [this, name, &target](std::string_view text) {
                          parse(name, text, target.emplace_back(), "a whole number");
                        }});
  }
  // A whole number, at least `least`.
  template <std::integral N>
  void add(const char* name, const char* value, const char* help, N& target,
           N least = std::numeric_limits<N>::min()) {
    options_.push_back({name, value, help, [this, name, &target, least](std::string_view text) {
                          parse(name, text, target, "a whole number");
                          require(target >= least, name, concat(target, " (want ", least, " or more)"));
                        }});
  }
  // A number, at least 0.
  void add(const char* name, const char* value, const char* help, float& target) {
    constexpr float most = std::numeric_limits<float>::max();
    add(name, value, help, target, 0, most, "0 or more");
  }
  // A number from `least` to `most`, which are said as `range`.
  void add(const char* name, const char* value, const char* help, float& target, float least, float most,
           const char* range) {
    options_.push_back({name, value, help, [=, this, &target](std::string_view text) {
                          parse(name, text, target, "a number");
                          require(target >= least && target <= most, name, concat(text, " (want ", range, ")"));
                        }});
  }

  // Reads the arguments. Prints the help and ends the program for --help; throws Error for what cannot be read.
  void parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      std::string name = argv[i], value;
      if (name == "--help" || name == "-h") help();
      const std::size_t equals = name.find('=');
      if (equals != name.npos) value = name.substr(equals + 1), name.resize(equals);
      const Option* option = find(name);
      gpunet::require(option, program_, ": unknown option '", name, "', see ", program_, " --help");
      const bool wants_value = *option->value != '\0';
      require(wants_value || equals == name.npos, name.c_str(), "takes no value");
      if (wants_value && equals == name.npos) {
        gpunet::require(i + 1 < argc, program_, ": ", name, " has no value (want ", option->value, ")");
        value = argv[++i];
      }
      option->read(value);
    }
  }

 private:
  struct Option {
    const char *name, *value, *help;
    std::function<void(std::string_view)> read;
  };

  template <class... Parts>
  static std::string concat(const Parts&... parts) {
    return gpunet::concat(parts...);
  }
  void require(bool ok, const char* name, const std::string& what) const {
    gpunet::require(ok, program_, ": ", name, " ", what);
  }
  template <class N>
  void parse(const char* name, std::string_view text, N& target, const char* kind) const {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), target);
    require(error == std::errc() && end == text.data() + text.size(), name,
            concat("'", text, "' is not ", kind, error == std::errc::result_out_of_range ? " in range" : ""));
  }
  const Option* find(std::string_view name) const {
    for (const Option& option : options_)
      if (option.name == name) return &option;
    return nullptr;
  }
  [[noreturn]] void help() const {
    std::printf("usage: %s [options]\n%s\n\n", program_.c_str(), purpose_.c_str());
    for (const Option& o : options_)
      std::printf("  %-24s %s\n", gpunet::concat(o.name, " ", o.value).c_str(), o.help);
    std::printf("  %-24s %s\n", "--help", "print this and stop");
    std::exit(0);
  }

  std::string program_, purpose_;
  std::vector<Option> options_;
};

}  // namespace examples
