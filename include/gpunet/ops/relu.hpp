// Rectifiers: as functions of numbers and arrays, and as nodes of a graph.
#pragma once

#include <gpunet/ops/map.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// max(x, 0); NaN stays NaN, as in PyTorch. <= and not <: where subnormal numbers count as 0, a
// negative one is not less than 0 and would be returned unchanged.
struct Rectify {
  template <class T>
  GPUNET_FN T operator()(T x) const {
    return x <= T{} ? T{} : x;
  }
};

// The gradient of y = max(x, 0) from y and dy.
struct RectifyGradient {
  template <class T>
  GPUNET_FN T operator()(T y, T dy) const {
    return y <= T{} ? T{} : dy;
  }
};

// Computes y[i] = max(x[i], 0) for i < n. y may be x.
template <class D, class T>
void rectify(D& device, index_t n, const T* x, T* y) {
  map(device, n, Rectify{}, x, y);
}

// Computes dx[i] = dy[i] where y[i] > 0, else 0, for i < n. dx may be dy.
template <class D, class T>
void rectify_gradient(D& device, index_t n, const T* y, const T* dy, T* dx) {
  map(device, n, RectifyGradient{}, y, dy, dx);
}

// The function that an op applies to each element of its result before it stores it: none, or
// max(y, 0).
enum class Activation { none, relu };

struct Activate {
  Activation activation;

  template <class T>
  GPUNET_FN T operator()(T y) const {
    return activation == Activation::relu ? Rectify{}(y) : y;
  }
};

// y = max(x, 0), element by element; NaN stays NaN, as in PyTorch.
struct ReluOp {
  OpTraits traits(const Sizes&, const Sizes&) const {
    OpTraits traits{.stored_as = StoredAs::promoted};
    traits.clamps = Bounds{.low = 0};
    return traits;
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/relu.ipp>
#endif
