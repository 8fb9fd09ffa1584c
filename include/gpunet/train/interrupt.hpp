// Ends a training loop on Ctrl-C.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <signal.h>

namespace gpunet::train {

// A scope in which SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal was closed) do not end the program but make interrupted()
// true; a second SIGINT or SIGTERM ends it. An ignored SIGINT is handled too, because shells start background jobs with it; an
// ignored SIGHUP stays ignored, because nohup sets it. Guards may be nested in one thread; the outermost one restores the
// previous handlers. A guard around training and saving covers both:
//   const train::InterruptGuard interrupt;
//   train::fit(net, criterion, optimizer, loader, {.epochs = 10}, train::StopOnInterrupt());
//   io::save(net, "net.safetensors");
//   return interrupt.exit_status();
class InterruptGuard {
 public:
  InterruptGuard() {
    if (guards_++ > 0) return;
    caught_ = 0;
    struct sigaction action {};
    action.sa_handler = &note;
    action.sa_flags = SA_RESTART;  // reads and writes elsewhere in the program must not fail
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      sigaction(signals[i], nullptr, &previous_[i]);
      if (signals[i] != SIGHUP || previous_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
    }
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard() {
    if (--guards_ > 0) return;
    for (std::size_t i = 0; i < signals.size(); ++i)
      sigaction(signals[i], &previous_[i], nullptr);
  }

  // Whether a signal came since the outermost guard was made. Costs a load.
  bool interrupted() const noexcept { return caught_.load(std::memory_order_relaxed) != 0; }

  // Returns the exit status that shells expect: 128 + the first signal (130 after SIGINT, 143 after SIGTERM, 129 after SIGHUP),
  // or 0 if there was none.
  int exit_status() const noexcept { return interrupted() ? 128 + caught_.load(std::memory_order_relaxed) : 0; }

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

  static void note(int signal) {
    int none = 0;
    if (caught_.compare_exchange_strong(none, signal)) return;
    if (signal == SIGHUP) return;  // comes twice when a terminal is closed: from its shell and from the system
    ::signal(signal, SIG_DFL);
    raise(signal);  // delivered when this handler returns
  }

  static_assert(std::atomic<int>::is_always_lock_free,
                "gpunet::train: a signal handler may not lock, use another processor");
  inline static std::atomic<int> caught_{0};  // the first signal, 0 if none came
  inline static int guards_ = 0;
  std::array<struct sigaction, signals.size()> previous_{};
};

}  // namespace gpunet::train
