// Ending a training loop on Ctrl-C.
#pragma once

#include <array>
#include <atomic>
#include <signal.h>

#include <gpunet/core/config.hpp>

namespace gpunet::train {

// A scope in which SIGINT (Ctrl-C), SIGTERM and SIGHUP (terminal closed) do not end the program but
// set interrupted(). A second SIGINT or SIGTERM ends it. SIGINT is handled even if it was ignored
// (shells start background jobs so); SIGHUP stays ignored if it was (nohup). Guards may be nested
// in one thread; the outermost one restores the previous handlers.
//   const train::InterruptGuard interrupt;
//   train::fit(net, criterion, optimizer, loader, {.epochs = 10}, train::StopOnInterrupt());
//   io::save(net, "net.safetensors");
//   return interrupt.exit_status();
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  // Returns whether a signal came since the outermost guard was made. Costs one atomic load.
  bool interrupted() const noexcept { return caught_.load(std::memory_order_relaxed) != 0; }

  // Returns the exit status that shells expect: 128 + the first signal (130 after SIGINT, 143 after
  // SIGTERM, 129 after SIGHUP), or 0 if there was none.
  int exit_status() const noexcept {
    return interrupted() ? 128 + caught_.load(std::memory_order_relaxed) : 0;
  }

 private:
  static constexpr std::array<int, 3> handled{SIGINT, SIGTERM, SIGHUP};

  static void note(int signal);  // the handler

  static_assert(std::atomic<int>::is_always_lock_free,
                "gpunet::train: atomic<int> is not lock-free on this processor, and a signal "
                "handler must not lock");
  inline static std::atomic<int> caught_{0};  // the first signal, or 0
  inline static int guards_ = 0;
  std::array<struct sigaction, handled.size()> previous_{};
};

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/interrupt.ipp>
#endif
