// Functions of two numbers, element by element and with broadcasting, as nodes of a graph.
#pragma once

#include <gpunet/device/functor_math.hpp>
#include <gpunet/ops/broadcast.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

namespace detail {

// See binary_kernels.hpp.
template <class F, class D, class T>
void binary_forward(D& device, const Broadcast& shape, const F& f, const ForwardPass<T>& pass);
template <class F, class D, class T>
void binary_backward(D& device, const Broadcast& shape, const F& f, const BackwardPass<T>& pass);

}  // namespace detail

// y = f(a, b). F has value(a, b), and the gradients gradient_a(a, b, dy) and gradient_b(a, b, dy).
template <class F>
struct BinaryOp {
  Broadcast shape;
  [[no_unique_address]] F f = {};

  OpTraits traits(const Sizes&, const Sizes&) const { return {.stored_as = StoredAs::promoted}; }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const {
    detail::binary_forward(device, shape, f, pass);
  }
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const {
    detail::binary_backward(device, shape, f, pass);
  }
};

struct Difference {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return a - b;
  }
  template <class T>
  GPUNET_FN T gradient_a(T, T, T dy) const {
    return dy;
  }
  template <class T>
  GPUNET_FN T gradient_b(T, T, T dy) const {
    return -dy;
  }
};

// a + b with broadcasting; AddOp is the one without.
struct BroadcastSum {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return a + b;
  }
  template <class T>
  GPUNET_FN T gradient_a(T, T, T dy) const {
    return dy;
  }
  template <class T>
  GPUNET_FN T gradient_b(T, T, T dy) const {
    return dy;
  }
};

struct Product {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return a * b;
  }
  template <class T>
  GPUNET_FN T gradient_a(T, T b, T dy) const {
    return b * dy;
  }
  template <class T>
  GPUNET_FN T gradient_b(T a, T, T dy) const {
    return a * dy;
  }
};

struct Quotient {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return a / b;
  }
  template <class T>
  GPUNET_FN T gradient_a(T, T b, T dy) const {
    return dy / b;
  }
  template <class T>
  GPUNET_FN T gradient_b(T a, T b, T dy) const {
    return -dy * ((a / b) / b);
  }
};

// The larger one; NaN if one is. Of two equal numbers each has half the gradient, and if one is
// NaN, each has all of it, as in PyTorch.
struct Maximum {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return a != a ? a : a > b ? a : b;
  }
  template <class T>
  GPUNET_FN T gradient_a(T a, T b, T dy) const {
    return math::select(a == b, dy / 2, math::select(a < b, T{}, dy));
  }
  template <class T>
  GPUNET_FN T gradient_b(T a, T b, T dy) const {
    return gradient_a(b, a, dy);
  }
};

struct Minimum {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return a != a ? a : a < b ? a : b;
  }
  template <class T>
  GPUNET_FN T gradient_a(T a, T b, T dy) const {
    return math::select(a == b, dy / 2, math::select(a > b, T{}, dy));
  }
  template <class T>
  GPUNET_FN T gradient_b(T a, T b, T dy) const {
    return gradient_a(b, a, dy);
  }
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/binary.ipp>
#endif
