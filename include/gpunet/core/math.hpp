// Integer arithmetic that several floors need.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet {

// Smallest integer >= a / b, for a >= 0 and b > 0.
GPUNET_FN constexpr index_t ceil_div(index_t a, index_t b) {
  return (a + b - 1) / b;
}

// Smallest multiple of b that is >= a.
GPUNET_FN constexpr index_t round_up(index_t a, index_t b) {
  return ceil_div(a, b) * b;
}

}  // namespace gpunet
