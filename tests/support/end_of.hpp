// Runs code in a process of its own, to see how it ends.
#pragma once

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "fork.hpp"

// Returns how a process ends that calls `work` and then returns 0, with the default signal
// handlers: its exit status, or -signal.
template <class Work>
int end_of(Work work) {
  let_threads_sleep();
  const pid_t child = fork();
  if (child == 0) {
    // Which test programs may catch.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGBUS, SIGXFSZ})
      std::signal(signal, SIG_DFL);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
