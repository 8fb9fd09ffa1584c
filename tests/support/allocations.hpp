// Counts allocations of the test program, whose allocation functions
// tests/model/no_allocation_test.cpp replaces (not under nvcc: there nothing is counted).
#pragma once

#include <atomic>
#include <cstddef>

inline std::atomic<bool> counting_allocations{false};
inline std::atomic<int> allocations{0};
// In bytes; the latter is a sum.
inline std::atomic<std::size_t> largest_allocation{0}, allocated_bytes{0};

inline void count_allocation(std::size_t bytes) {
  if (!counting_allocations.load(std::memory_order_relaxed)) return;
  allocations.fetch_add(1, std::memory_order_relaxed);
  allocated_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes > largest_allocation) largest_allocation = bytes;
}

// Counts while this object exists.
class Count {
 public:
  Count() {
    allocations = 0;
    largest_allocation = allocated_bytes = 0;
    counting_allocations = true;
  }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;
  ~Count() { counting_allocations = false; }

  int so_far() const { return allocations; }
  std::size_t largest() const { return largest_allocation; }
  std::size_t bytes() const { return allocated_bytes; }
};
