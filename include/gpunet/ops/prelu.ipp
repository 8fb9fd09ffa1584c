// Bodies of prelu.hpp.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/functor_math.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/prelu.hpp>

namespace gpunet {

namespace detail {

// y = x, or dx = dy, where x > 0, else times the slope of the element's channel. One index = one
// element.
template <class T>
struct PReLUElement {
  static constexpr bool one_copy = true;
  index_t slopes, run;  // elements of a channel in a group of samples
  const T *w, *x, *from;
  T* to;
  GPUNET_FN void operator()(index_t i) const {
    const T slope = w[slopes == 1 ? 0 : i / run % slopes];
    to[i] = math::select(x[i] > T{}, from[i], slope * from[i]);
  }
};

// dw = sum of dy x over the elements of a channel where x <= 0. One sum = one slope.
template <class T>
struct PReLUSlopeGradient {
  index_t slopes, run;
  const T *x, *dy;
  T* dw;
  Accumulate accumulate;
  GPUNET_FN T operator()(index_t c, index_t n) const {
    const index_t i = slopes == 1 ? n : (n / run * slopes + c) * run + n % run;
    return x[i] > T{} ? T{} : dy[i] * x[i];
  }
  GPUNET_FN void store(index_t c, T sum) const { store_gradient(dw[c], sum, accumulate); }
};

}  // namespace detail

template <class D, class T>
void PReLUOp::forward(D& device, const ForwardPass<T>& pass) const {
  for_each(device, pass.in_elements(),
           detail::PReLUElement<T>{slopes, plane * pass.slice.inner, pass.parameters[0], pass.x,
                                   pass.x, pass.y});
}

template <class D, class T>
void PReLUOp::backward(D& device, const BackwardPass<T>& pass) const {
  const index_t run = plane * pass.slice.inner;
  if (!pass.skips_parameters)
    sum_each(device, slopes, pass.in_elements() / slopes,
             detail::PReLUSlopeGradient<T>{slopes, run, pass.x, pass.dy, pass.gradients[0],
                                           pass.accumulate});
  if (pass.dx)
    for_each(device, pass.in_elements(),
             detail::PReLUElement<T>{slopes, run, pass.parameters[0], pass.x, pass.dy, pass.dx});
}

}  // namespace gpunet
