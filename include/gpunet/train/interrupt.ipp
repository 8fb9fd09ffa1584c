// Bodies of interrupt.hpp.
#pragma once

#include <cstddef>

#include <gpunet/train/interrupt.hpp>

namespace gpunet::train {

GPUNET_INLINE InterruptGuard::InterruptGuard() {
  if (guards_++ > 0) return;
  caught_ = 0;
  struct sigaction action {};
  action.sa_handler = &note;
  action.sa_flags = SA_RESTART;  // system calls elsewhere in the program must not fail
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < handled.size(); ++i) {
    sigaction(handled[i], nullptr, &previous_[i]);
    if (handled[i] != SIGHUP || previous_[i].sa_handler != SIG_IGN)
      sigaction(handled[i], &action, nullptr);
  }
}

GPUNET_INLINE InterruptGuard::~InterruptGuard() {
  if (--guards_ > 0) return;
  for (std::size_t i = 0; i < handled.size(); ++i)
    sigaction(handled[i], &previous_[i], nullptr);
}

GPUNET_INLINE void InterruptGuard::note(int signal) {
  int none = 0;
  if (caught_.compare_exchange_strong(none, signal)) return;
  // Sent twice when a terminal is closed: by its shell and by the system.
  if (signal == SIGHUP) return;
  ::signal(signal, SIG_DFL);
  raise(signal);  // delivered when this handler returns
}

}  // namespace gpunet::train
