// Rectifiers: as functions of numbers and arrays, and as nodes of a graph.
#pragma once

#include <gpunet/ops/map.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// max(x, 0); a NaN stays one, as in PyTorch. <= and not <: on Host a negative subnormal number is no less than 0, and would
// come out as it is.
struct Rectify {
  template <class T>
  GPUNET_FN T operator()(T x) const {
    return x <= T{} ? T{} : x;
  }
};

// The gradient of max(x, 0) = y where that of y is dy.
struct RectifyGradient {
  template <class T>
  GPUNET_FN T operator()(T y, T dy) const {
    return y <= T{} ? T{} : dy;
  }
};

// y[i] = max(x[i], 0) for i < n. y may be x.
template <class D, class T>
void rectify(D& device, index_t n, const T* x, T* y) {
  map(device, n, Rectify{}, x, y);
}

// dx[i] = dy[i] where y[i] > 0, else 0, for i < n. dx may be dy.
template <class D, class T>
void rectify_gradient(D& device, index_t n, const T* y, const T* dy, T* dx) {
  map(device, n, RectifyGradient{}, y, dy, dx);
}

// What an op does to its result, element by element, before it stores it: nothing, or max(y, 0).
enum class Activation { none, relu };

struct Activate {
  Activation activation;

  template <class T>
  GPUNET_FN T operator()(T y) const {
    return activation == Activation::relu ? Rectify{}(y) : y;
  }
};

// y = max(x, 0), element by element; a NaN stays one, as in PyTorch.
struct ReluOp {
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(detail::OwnKernels<ReluOp>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/activation.ipp>
#endif
