// tanh and the logistic function, element by element, and their gradients.
#pragma once

#include <algorithm>
#include <cmath>

#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/vector_math.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet {

// Both functions flatten out to both sides; their gradients are told from their results y.
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

}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/ops/saturation.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

namespace detail {

// kernel(n, x, y) for pieces of the arrays, on several threads where that pays.
template <class Kernel>
void in_pieces(Host& device, index_t n, const float* x, float* y, Kernel kernel) {
  constexpr index_t piece = 1 << 13;
  device.run_if(n > piece, ceil_div(n, piece), [=](index_t i, int) {
    const FlushSubnormals flush;
    kernel(std::min(piece, n - i * piece), x + i * piece, y + i * piece);
  });
}

}  // namespace detail

inline void saturate(Host& device, index_t n, HyperbolicTangent, const float* x, float* y) {
  detail::in_pieces(device, n, x, y, [](index_t count, const float* from, float* to) {
    GPUNET_CALL_PATH(16, map_tanh, count, from, to);
  });
}

inline void saturate(Host& device, index_t n, Logistic, const float* x, float* y) {
  detail::in_pieces(device, n, x, y, [](index_t count, const float* from, float* to) {
    GPUNET_CALL_PATH(16, map_logistic, count, from, to);
  });
}

}  // namespace gpunet
