// A function of one number, element by element, as a node of a graph.
#pragma once

#include <gpunet/ops/map.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

namespace detail {

// f.value(x), for map.
template <class F>
struct ElementwiseValue {
  F f;
  template <class T>
  GPUNET_FN T operator()(T x) const {
    return f.value(x);
  }
};

// dx[i] = f.gradient(x[i], y[i], dy[i])
template <class F, class T>
struct ElementwiseGradient {
  F f;
  const T *x, *y, *dy;
  T* dx;
  GPUNET_FN void operator()(index_t i) const { dx[i] = f.gradient(x[i], y[i], dy[i]); }
};

}  // namespace detail

// F has value(x), which returns y, and gradient(x, y, dy), which returns dx; both for T float and double.
template <class F>
struct ElementwiseOp {
  F f;

  std::string extra_repr(const Sizes& in, const Sizes& out) const {
    if constexpr (requires { f.extra_repr(in, out); })
      return f.extra_repr(in, out);
    else
      return "";
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const {
    map(device, pass.out_elements(), detail::ElementwiseValue<F>{f}, pass.x, pass.y);
  }
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const {
    if (pass.dx)
      for_each(device, pass.in_elements(), detail::ElementwiseGradient<F, T>{f, pass.x, pass.y, pass.dy, pass.dx});
  }
};

}  // namespace gpunet
