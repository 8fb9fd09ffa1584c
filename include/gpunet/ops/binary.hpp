// Functions of two numbers, element by element and with broadcasting, as nodes of a graph.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <gpunet/core/shape.hpp>
#include <gpunet/device/functor_math.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// A dimension of y, or several neighboring ones, and whether a and b have it; where they do not, their only element is repeated.
struct BroadcastAxis {
  index_t extent;
  bool in_a, in_b;
};

// How samples of two shapes make one: aligned at the last dimension, where an extent of 1 is repeated, as in PyTorch.
struct Broadcast {
  std::array<BroadcastAxis, Sizes::max_rank - 1> axes{};
  int rank = 0;

  // Requires shapes that fit.
  Broadcast(const Sizes& a, const Sizes& b);

  // Returns whether an operand is as large as y: nothing of it is repeated.
  bool is_whole(bool BroadcastAxis::*in) const {
    for (int i = 0; i < rank; ++i)
      if (!(axes[static_cast<std::size_t>(i)].*in)) return false;
    return true;
  }
};

// y = f(a, b). F has value(a, b), and the gradients gradient_a(a, b, dy) and gradient_b(a, b, dy).
template <class F>
struct BinaryOp {
  Broadcast shape;
  [[no_unique_address]] F f = {};

  OpTraits traits(const Sizes&, const Sizes&) const { return {.stored_as = StoredAs::promoted}; }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
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

// The larger one; NaN if one is. Of two equal numbers each has half the gradient, and if one is NaN, each has all of it, as in
// PyTorch.
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

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(detail::OwnKernels<BinaryOp<BroadcastSum>>);
GPUNET_EXTERN_KERNELS(detail::OwnKernels<BinaryOp<Difference>>);
GPUNET_EXTERN_KERNELS(detail::OwnKernels<BinaryOp<Product>>);
GPUNET_EXTERN_KERNELS(detail::OwnKernels<BinaryOp<Quotient>>);
GPUNET_EXTERN_KERNELS(detail::OwnKernels<BinaryOp<Maximum>>);
GPUNET_EXTERN_KERNELS(detail::OwnKernels<BinaryOp<Minimum>>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/binary.ipp>
#endif
