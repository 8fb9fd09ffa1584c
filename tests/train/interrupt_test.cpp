#include <csignal>
#include <doctest/doctest.h>
#include <unistd.h>

#include <gpunet/train/interrupt.hpp>

#include "support/end_of.hpp"

using gpunet::train::InterruptGuard;

namespace {

struct sigaction action_for(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action;
}

// The exit status of a process whose parent has the signal ignored, and that receives it: 7 where a
// guard notes it, else 8.
int end_where_ignored(int signal) {
  return end_of([signal] {
    std::signal(signal, SIG_IGN);
    InterruptGuard guard;
    std::raise(signal);
    _exit(guard.interrupted() ? 7 : 8);
  });
}

}  // namespace

TEST_CASE("a signal is noted and does not end the program") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    InterruptGuard guard;
    CHECK(!guard.interrupted());
    CHECK(guard.exit_status() == 0);
    std::raise(signal);
    CHECK(guard.interrupted());
    CHECK(guard.exit_status() == 128 + signal);
    CHECK(InterruptGuard().exit_status() == 128 + signal);
  }
  InterruptGuard next;
  CHECK(!next.interrupted());
  CHECK(next.exit_status() == 0);
}

TEST_CASE("the second signal ends the program") {
  for (const int first : {SIGINT, SIGTERM, SIGHUP})
    for (const int second : {SIGINT, SIGTERM})
      CHECK(end_of([&] {
              InterruptGuard guard;
              std::raise(first);
              std::raise(second);
            }) == -second);
  CHECK(end_of([] {
          InterruptGuard guard;
          std::raise(SIGINT);
          if (guard.interrupted()) _exit(guard.exit_status());
        }) == 130);
}

TEST_CASE("a second SIGHUP ends nothing: a terminal that is closed sends two") {
  for (const int first : {SIGINT, SIGTERM, SIGHUP})
    CHECK(end_of([&] {
            InterruptGuard guard;
            std::raise(first);
            std::raise(SIGHUP);
            std::raise(SIGHUP);
            _exit(guard.exit_status());
          }) == 128 + first);
}

TEST_CASE("SIGHUP stays ignored where nohup has it so") {
  CHECK(end_where_ignored(SIGHUP) == 8);
}

TEST_CASE("the previous handlers come back") {
  const struct sigaction interrupt = action_for(SIGINT), terminate = action_for(SIGTERM),
                         hang_up = action_for(SIGHUP);
  {
    InterruptGuard outer;
    {
      InterruptGuard inner;
      std::raise(SIGINT);
      CHECK(inner.interrupted());
    }
    CHECK(outer.interrupted());
    CHECK((action_for(SIGINT).sa_handler != interrupt.sa_handler));
    CHECK((action_for(SIGTERM).sa_handler != terminate.sa_handler));
    CHECK((action_for(SIGHUP).sa_handler != hang_up.sa_handler));
  }
  CHECK((action_for(SIGINT).sa_handler == interrupt.sa_handler));
  CHECK((action_for(SIGTERM).sa_handler == terminate.sa_handler));
  CHECK((action_for(SIGHUP).sa_handler == hang_up.sa_handler));
  CHECK(end_of([] {
          { InterruptGuard guard; }
          std::raise(SIGINT);
        }) == -SIGINT);
}

TEST_CASE("a signal is noted where the parent has it ignored") {
  CHECK(end_where_ignored(SIGINT) == 7);
}

TEST_CASE("a system call that waits is not broken by the signal") {
  CHECK(end_of([] {
          InterruptGuard guard;
          int ends[2];
          if (pipe(ends) != 0) _exit(1);
          const pid_t parent = getpid();
          if (fork() == 0) {
            kill(parent, SIGINT);
            usleep(20'000);
            _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
          }
          char letter = 0;
          _exit(read(ends[0], &letter, 1) == 1 && letter == 'x' && guard.interrupted() ? 7 : 2);
        }) == 7);
}
