// Bodies of glu.hpp.
#pragma once

#include <gpunet/device/functor_math.hpp>
#include <gpunet/ops/for_each_block.hpp>
#include <gpunet/ops/glu.hpp>

namespace gpunet {

namespace detail {

template <class T>
struct GluForward {
  index_t half;
  const T* x;
  T* y;
  GPUNET_FN index_t size() const { return half; }
  GPUNET_FN void at(index_t row, index_t e) const {
    const T *a = x + 2 * row * half, *b = a + half;
    y[row * half + e] = a[e] / (T{1} + math::exp(-b[e]));
  }
};

// da = dy s, db = dy a s (1 - s) with s = 1 / (1 + exp(-b)).
template <class T>
struct GluBackward {
  index_t half;
  const T *x, *dy;
  T* dx;
  GPUNET_FN index_t size() const { return half; }
  GPUNET_FN void at(index_t row, index_t e) const {
    const index_t first = 2 * row * half + e;
    const T s = T{1} / (T{1} + math::exp(-x[first + half])), gradient = dy[row * half + e] * s;
    dx[first] = gradient;
    dx[first + half] = gradient * x[first] * (T{1} - s);
  }
};

}  // namespace detail

template <class D, class T>
void GluOp::forward(D& device, const ForwardPass<T>& pass) const {
  for_each_in_blocks(device, pass.slice.outer * rows,
                     detail::GluForward<T>{half * pass.slice.inner, pass.x, pass.y});
}

template <class D, class T>
void GluOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (pass.dx)
    for_each_in_blocks(device, pass.slice.outer * rows,
                       detail::GluBackward<T>{half * pass.slice.inner, pass.x, pass.dy, pass.dx});
}

}  // namespace gpunet
