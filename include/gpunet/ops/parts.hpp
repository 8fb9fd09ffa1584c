// Working memory in parts.
#pragma once

#include <cstdint>

#include <gpunet/core/error.hpp>
#include <gpunet/core/math.hpp>

namespace gpunet::detail {

// Arrays one after another, each on a boundary of 16 elements: kernels read vectors of 16 bytes,
// which have to lie on such boundaries on Cuda. Without memory it only counts, so that one function
// gives both the arrays and their size.
template <class T>
class Parts {
 public:
  Parts() = default;
  explicit Parts(T* memory) : memory_(memory) {
    GPUNET_ASSERT(reinterpret_cast<std::uintptr_t>(memory) % 16 == 0);
  }
  // Returns the next array of so many elements; null without memory.
  T* take(index_t elements) {
    T* const part = memory_ ? memory_ + size_ : nullptr;
    size_ += round_up(elements, index_t{16});
    return part;
  }
  // Returns the elements of all arrays taken so far.
  index_t size() const { return size_; }

 private:
  T* memory_ = nullptr;
  index_t size_ = 0;
};

}  // namespace gpunet::detail
