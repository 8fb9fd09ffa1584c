// The common base of Tanh and Sigmoid.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/elementwise.hpp>
#include <gpunet/ops/saturation.hpp>

namespace gpunet::nn::detail {

// y = F(x), element by element; Gradient computes dx from y and dy.
template <class F, class Gradient>
struct Saturation {
  constexpr auto output(auto in) const { return in; }
  constexpr Elementary<F, Gradient> function() const { return {}; }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const {
    saturate(device, pass.out_elements(), F{}, pass.x, pass.y);
  }

  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const {
    if (pass.dx) map(device, pass.in_elements(), Gradient{}, pass.y, pass.dy, pass.dx);
  }
};

}  // namespace gpunet::nn::detail
