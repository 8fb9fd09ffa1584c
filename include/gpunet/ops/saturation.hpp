// tanh and the logistic function, element by element, and their gradients.
#pragma once

#include <cmath>

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet {

// Both functions flatten out to both sides; their gradients are computed from their results y.
struct HyperbolicTangent {
  static constexpr bool one_copy = true;
  template <class T>
  GPUNET_FN T operator()(T x) const {
    return std::tanh(x);
  }
};
struct HyperbolicTangentGradient {
  template <class T>
  GPUNET_FN T operator()(T y, T dy) const {
    return dy * (T{1} - y * y);
  }
};

struct Logistic {
  static constexpr bool one_copy = true;
  template <class T>
  GPUNET_FN T operator()(T x) const {
    return T{1} / (T{1} + std::exp(-x));
  }
};
struct LogisticGradient {
  template <class T>
  GPUNET_FN T operator()(T y, T dy) const {
    return dy * (T{1} - y) * y;
  }
};

// y[i] = f(x[i]) for i < n, f one of the two functions above.
template <class D, class F, class T>
void saturate(D& device, index_t n, F f, const T* x, T* y) {
  map(device, n, f, x, y);
}

// The same for floats on Host: in vectors.
void saturate(Host& device, index_t n, HyperbolicTangent, const float* x, float* y);
void saturate(Host& device, index_t n, Logistic, const float* x, float* y);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/saturation.ipp>
#endif
