// Working memory that kernels borrow.
#pragma once

#include <atomic>
#include <cstddef>

#include <gpunet/core/error.hpp>

namespace gpunet::detail {

// Data and scratch start on a cache line, the widest vector of any processor known here.
inline constexpr std::size_t host_alignment = 64;

// Throws Error where there is no memory.
void* allocate_on_host(std::size_t bytes);

void deallocate_on_host(void* p) noexcept;

// Memory that is empty until it grows, and never shrinks.
class GrowingMemory {
 public:
  GrowingMemory() = default;
  ~GrowingMemory() { deallocate_on_host(data_); }
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;

  // At least `bytes`; its contents may be lost.
  void* grow(std::size_t bytes);

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Memory that lasts from call to call, for one borrower at a time; who finds it lent gets memory of
// his own.
class LentMemory {
 public:
  // Borrowed memory, until it goes out of scope.
  class Loan {
   public:
    Loan(LentMemory& lender, std::size_t bytes)
        : lender_(lender.lent_.exchange(true, std::memory_order_acquire) ? nullptr : &lender) {
      attempt([&] { data_ = (lender_ ? lender_->memory_ : own_).grow(bytes); },
              [&] {
                give_back();
                rethrow();
              });
    }
    ~Loan() { give_back(); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    template <class T>
    T* as() const {
      return static_cast<T*>(data_);
    }

   private:
    void give_back() noexcept {
      if (lender_) lender_->lent_.store(false, std::memory_order_release);
    }

    LentMemory* lender_;
    GrowingMemory own_;
    void* data_ = nullptr;
  };

 private:
  GrowingMemory memory_;
  std::atomic<bool> lent_{false};
};

}  // namespace gpunet::detail

#if !GPUNET_COMPILED
#include <gpunet/device/host/lent_memory.ipp>
#endif
