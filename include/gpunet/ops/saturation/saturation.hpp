// tanh and the logistic function: of numbers and arrays, and as nodes of a graph.
#pragma once

#include <cmath>

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/op.hpp>

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

// y = F(x), element by element; Gradient computes dx from y and dy.
template <class F, class Gradient>
struct SaturationOp {
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

using TanhOp = SaturationOp<HyperbolicTangent, HyperbolicTangentGradient>;
using SigmoidOp = SaturationOp<Logistic, LogisticGradient>;

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(detail::OwnKernels<TanhOp>);
GPUNET_EXTERN_KERNELS(detail::OwnKernels<SigmoidOp>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/saturation/saturation.ipp>
#endif
