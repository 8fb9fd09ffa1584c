// The random zeros of dropout.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/ops/for_each_random.hpp>

namespace gpunet::detail {

// The factor of an element from its random number: 0 with probability p, else `scale`.
template <class T>
struct DropoutFactor {
  float p;
  T scale;
  explicit DropoutFactor(double probability)
      : p(static_cast<float>(probability)),
        scale(probability < 1 ? static_cast<T>(1 / (1 - probability)) : T{}) {}
  GPUNET_FN T operator()(float random) const { return random < p ? T{} : scale; }
};

// to[i] = factor from[i], with a factor for each element. One index = one element.
template <class T>
struct DropElements {
  DropoutFactor<T> factor;
  const T* from;
  T* to;
  GPUNET_FN void operator()(index_t i, float random) const { to[i] = factor(random) * from[i]; }
};

}  // namespace gpunet::detail
