// Faults of the processor as results. For tests; not in gpunet.hpp.
#pragma once

#include <csetjmp>
#include <csignal>
#include <cstdint>

namespace gpunet::nn::detail {

// Where this thread continues after an access through a null pointer; null: it ends the program.
inline thread_local sigjmp_buf* after_null_access = nullptr;

inline void handle_fault(int signal, siginfo_t* info, void*) {
  constexpr std::uintptr_t first_page = 1 << 16;  // no memory is there
  if (after_null_access && reinterpret_cast<std::uintptr_t>(info->si_addr) < first_page)
    siglongjmp(*after_null_access, 1);
  std::signal(signal, SIG_DFL);  // the access is repeated
}

// Calls f. Returns false if it reads or writes through a null pointer on this thread, which ends
// the call; memory that it owns then is not freed.
template <class F>
bool runs_without_null_access(const F& f) {
  struct Handling {
    struct sigaction before;
    Handling() {
      struct sigaction now {};
      now.sa_sigaction = handle_fault;
      now.sa_flags = SA_SIGINFO;
      sigaction(SIGSEGV, &now, &before);
    }
    ~Handling() {
      sigaction(SIGSEGV, &before, nullptr);
      after_null_access = nullptr;
    }
  };
  const Handling handling;
  sigjmp_buf here;
  if (sigsetjmp(here, 1) != 0) return false;
  after_null_access = &here;
  f();
  return true;
}

}  // namespace gpunet::nn::detail
