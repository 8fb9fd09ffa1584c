// Working memory that kernels borrow.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <gpunet/core/error.hpp>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gpunet::detail {

// Data and scratch start on a cache line, the widest vector of any processor known here.
inline constexpr std::size_t host_alignment = 64;

// Asks for pages of 2 MB where whole ones lie in new memory: large arrays then need fewer look-ups of addresses.
inline void prefer_large_pages([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t begin = (address + page - 1) / page * page, end = (address + bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

inline void* allocate_on_host(std::size_t bytes) {
  try {
    void* p = ::operator new (bytes, std::align_val_t{host_alignment});
    prefer_large_pages(p, bytes);
    return p;
  } catch (const std::bad_alloc&) {
    throw Error(concat("gpunet::Host: no memory for ", bytes, " bytes, use a smaller batch or network"));
  }
}

inline void deallocate_on_host(void* p) noexcept {
  ::operator delete (p, std::align_val_t{host_alignment});
}

// Memory that is empty until it grows, and never shrinks.
class GrowingMemory {
 public:
  GrowingMemory() = default;
  ~GrowingMemory() { deallocate_on_host(data_); }
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;

  // At least `bytes`; what was in it may be lost.
  void* grow(std::size_t bytes) {
    if (bytes <= bytes_) return data_;
    deallocate_on_host(std::exchange(data_, nullptr));
    bytes_ = 0;
    data_ = allocate_on_host(bytes);
    bytes_ = bytes;
    return data_;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Memory that lasts from call to call, for one borrower at a time; who finds it lent gets memory of his own.
class LentMemory {
 public:
  // What was borrowed, until it goes out of scope.
  class Loan {
   public:
    Loan(LentMemory& lender, std::size_t bytes)
        : lender_(lender.lent_.exchange(true, std::memory_order_acquire) ? nullptr : &lender) {
      try {
        data_ = (lender_ ? lender_->memory_ : own_).grow(bytes);
      } catch (...) {
        give_back();
        throw;
      }
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
