// Ctrl-C as a question that a training loop asks.
#pragma once

#include <atomic>
#include <signal.h>

namespace gpunet::train {

// While one is alive, SIGINT and SIGTERM do not end the program but make interrupted() true; the second signal ends
// it as if no guard were there. Also where the parent has the program ignore SIGINT, as shells do for jobs in the
// background. Guards may be nested, in one thread; the outermost puts the previous handlers back.
class InterruptGuard {
 public:
  // What a program returns that was interrupted: 128 + SIGINT, as shells expect.
  static constexpr int exit_status = 130;

  InterruptGuard() {
    if (guards_++ > 0) return;
    caught_ = 0;
    struct sigaction action {};
    action.sa_handler = &note;
    action.sa_flags = SA_RESTART;  // nobody else's read or write is to fail
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &previous_interrupt_);
    sigaction(SIGTERM, &action, &previous_terminate_);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard() {
    if (--guards_ > 0) return;
    sigaction(SIGINT, &previous_interrupt_, nullptr);
    sigaction(SIGTERM, &previous_terminate_, nullptr);
  }

  // Whether a signal came since the outermost guard was made. Costs a load.
  bool interrupted() const noexcept { return caught_.load(std::memory_order_relaxed) != 0; }

 private:
  static void note(int signal) {
    if (caught_.exchange(signal) == 0) return;
    ::signal(signal, SIG_DFL);
    raise(signal);  // delivered when this handler returns
  }

  static_assert(std::atomic<int>::is_always_lock_free,
                "gpunet::train: a signal handler may not lock, use another processor");
  inline static std::atomic<int> caught_{0};  // the first signal, 0 if none came
  inline static int guards_ = 0;
  struct sigaction previous_interrupt_ {};
  struct sigaction previous_terminate_ {};
};

}  // namespace gpunet::train
