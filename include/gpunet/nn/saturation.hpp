// What Tanh and Sigmoid have in common.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/saturation.host.hpp>

namespace gpunet::nn::detail {

// y = F(x), element by element; Gradient tells dx from y and dy.
template <class F, class Gradient>
struct Saturation {
  constexpr auto output(auto in) const { return in; }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass) const {
    saturate(device, pass.slice.samples() * in.numel(), F{}, pass.x, pass.y);
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass) const {
    if (pass.dx) map(device, pass.slice.samples() * in.numel(), Gradient{}, pass.y, pass.dy, pass.dx);
  }
};

}  // namespace gpunet::nn::detail
