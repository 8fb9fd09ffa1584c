// Functions of two numbers, element by element: arithmetic of values of networks and of tensors. F
// has value(a, b), and the gradients gradient_a(a, b, dy) and gradient_b(a, b, dy).
#pragma once

#include <gpunet/device/functor_math.hpp>
#include <gpunet/functions/elementwise.hpp>

namespace gpunet::functions {

// a + b; of values with broadcasting, since sums of equal sizes are an AddOp.
struct BroadcastSum {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return static_cast<T>(detail::wrapping(a) + detail::wrapping(b));
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

// a - b
struct Difference {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return static_cast<T>(detail::wrapping(a) - detail::wrapping(b));
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

// a b
struct Product {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return static_cast<T>(detail::wrapping(a) * detail::wrapping(b));
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

// a / b
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

// The smaller one, in the same way.
struct Minimum {
  template <class T>
  GPUNET_FN T value(T a, T b) const {
    return a != a ? a : a < b ? a : b;
  }
  template <class T>
  GPUNET_FN T gradient_a(T a, T b, T dy) const {
    return Maximum().gradient_a(b, a, dy);
  }
  template <class T>
  GPUNET_FN T gradient_b(T a, T b, T dy) const {
    return Maximum().gradient_a(a, b, dy);
  }
};

}  // namespace gpunet::functions
