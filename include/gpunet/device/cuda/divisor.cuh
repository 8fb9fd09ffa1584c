// Division by a number that the host knows, as a multiplication.
#pragma once

#include <cuda_runtime.h>

#include <gpunet/core/config.hpp>

namespace gpunet::detail {

// Divides n >= 0 by `divisor` >= 1, rounding down. Right while n * divisor < 2^64: the factor is
// ceil(2^64 / divisor), so the product errs by less than n * divisor / 2^64 (Granlund and
// Montgomery, Division by invariant integers, 1994).
struct Divisor {
  index_t divisor = 1;
  unsigned long long factor = 0;  // 2^64 for a divisor of 1 does not fit: 0 stands for it

  Divisor() = default;
  explicit Divisor(index_t d)
      : divisor(d), factor(~0ull / static_cast<unsigned long long>(d) + 1) {}

  __device__ index_t quotient(index_t n) const {
    return factor == 0
               ? n
               : static_cast<index_t>(__umul64hi(static_cast<unsigned long long>(n), factor));
  }
};

}  // namespace gpunet::detail
