// A worker process that communicates in lines of text.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>

namespace bench {

// How a worker is started: a program with its arguments, the processors that it may use (all if
// empty), and additional environment variables, as NAME=VALUE. A worker that does not answer within
// `seconds` is ended.
struct Command {
  std::vector<std::string> arguments;
  std::vector<int> processors;
  std::vector<std::string> environment;
  double seconds = std::numeric_limits<double>::infinity();
};

// A running worker. It ends with this process and with this object.
class Child {
 public:
  explicit Child(const Command& command)
      : name_(command.arguments.back()), seconds_(command.seconds) {
    int to[2], from[2];
    gpunet::require(::pipe(to) == 0 && ::pipe(from) == 0,
                    "bench: the system gives no pipe, close some programs");
    std::fflush(stdout);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    gpunet::require(pid_ >= 0, "bench: the system gives no process, close some programs");
    if (pid_ == 0) become(command, parent, to, from);
    ::close(to[0]);
    ::close(from[1]);
    in_ = ::fdopen(to[1], "w");
    out_ = from[0];
    std::signal(SIGPIPE, SIG_IGN);  // a dead worker is noticed when it does not answer
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    std::fclose(in_);
    ::close(out_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  // Sends a line and returns the answer. Throws Error if the worker has ended, or has to be ended
  // because it hangs.
  std::string ask(const std::string& line) {
    std::fprintf(in_, "%s\n", line.c_str());
    std::fflush(in_);
    return read_line();
  }
  std::string read_line() {
    const Clock::time_point begin = Clock::now();
    std::string line;
    for (char c = 0;; line += c) {
      wait_for_more(begin);
      if (::read(out_, &c, 1) != 1)
        throw gpunet::Error(gpunet::concat("bench: the worker for ", name_,
                                           " has ended before it answered (", ending(), ")"));
      if (c == '\n') return line;
    }
  }
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
           info.si_pid != 0;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Waits for the next character, or the end, of an answer that was asked for at `begin`.
  void wait_for_more(Clock::time_point begin) const {
    const double left = seconds_ - std::chrono::duration<double>(Clock::now() - begin).count();
    pollfd answer{out_, POLLIN, 0};
    if (::poll(&answer, 1, left < 1e6 ? std::max(0, static_cast<int>(1e3 * left)) : -1) != 0)
      return;
    ::kill(pid_, SIGKILL);
    throw gpunet::Error(
        gpunet::concat("bench: the worker for ", name_, " did not answer within ", seconds_, " s"));
  }

  // Returns how the process ended. The destructor reaps it.
  std::string ending() const {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 ||
        info.si_code == CLD_EXITED)
      return "see above";
    return info.si_status == SIGALRM ? "its time limit was over" : ::strsignal(info.si_status);
  }

  [[noreturn]] static void become(const Command& command, pid_t parent, int to[2], int from[2]) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // too late for the line above
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    for (const int end : {to[0], to[1], from[0], from[1]})
      ::close(end);
    if (!command.processors.empty()) {
      cpu_set_t set;
      CPU_ZERO(&set);
      for (const int processor : command.processors)
        CPU_SET(static_cast<std::size_t>(processor), &set);
      ::sched_setaffinity(0, sizeof set, &set);
    }
    for (const std::string& variable : command.environment) {
      const auto equals = variable.find('=');
      ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    }
    std::vector<char*> arguments;
    for (const std::string& argument : command.arguments)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    ::_exit(127);
  }

  std::string name_;
  pid_t pid_ = -1;
  std::FILE* in_ = nullptr;
  int out_ = -1;
  double seconds_;
};

}  // namespace bench
