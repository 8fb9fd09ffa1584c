// Two sums at once.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet {

// In double, as PyTorch's for floats on a CPU: batches and rows are long.
struct SumPair {
  double first, second;
  GPUNET_FN SumPair& operator+=(const SumPair& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

}  // namespace gpunet
