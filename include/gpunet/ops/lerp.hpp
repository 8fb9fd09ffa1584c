// Linear interpolation, as torch.lerp.
#pragma once

#include <cmath>

#include <gpunet/core/config.hpp>

namespace gpunet {

// from[i] += weight (to[i] - from[i]), from the nearer end and with one rounding of product and
// sum, as PyTorch does on processors that have the instruction: a weight of 1 gives to[i]. One
// index = one element.
template <class T>
struct Lerp {
  T weight;
  const T* to;
  T* from;
  GPUNET_FN void operator()(index_t i) const {
    const T difference = to[i] - from[i];
    from[i] = std::abs(weight) < T(0.5) ? std::fma(weight, difference, from[i])  //
                                        : std::fma(weight - T{1}, difference, to[i]);
  }
};

}  // namespace gpunet
