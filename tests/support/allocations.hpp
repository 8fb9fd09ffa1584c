// What the allocation functions of the test program count, which tests/model/no_allocation_test.cpp replaces (not under
// nvcc: there nothing is counted).
#pragma once

#include <atomic>
#include <cstddef>

inline std::atomic<bool> counting_allocations{false};
inline std::atomic<int> allocations{0};
inline std::atomic<std::size_t> largest_allocation{0}, all_allocated{0};  // in bytes

inline void count_allocation(std::size_t bytes) {
  if (!counting_allocations.load(std::memory_order_relaxed)) return;
  allocations.fetch_add(1, std::memory_order_relaxed);
  all_allocated.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes > largest_allocation) largest_allocation = bytes;
}

// Counts while it lives.
class Count {
 public:
  Count() {
    allocations = 0;
    largest_allocation = 0;
    all_allocated = 0;
    counting_allocations = true;
  }
  Count(const Count&) = delete;
  Count& operator=(const Count&) = delete;
  ~Count() { counting_allocations = false; }

  int so_far() const { return allocations; }
  std::size_t largest() const { return largest_allocation; }
  // Bytes of all of them, freed or not: at least what was in use at any time.
  std::size_t total() const { return all_allocated; }
};
