// The rectifier.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/activation.hpp>

namespace gpunet::nn {

// y = max(x, 0), element by element; a NaN stays one, as in PyTorch.
struct ReLU {
  constexpr auto output(auto in) const { return in; }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass) const {
    rectify(device, pass.slice.samples() * in.numel(), pass.x, pass.y);
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass) const {
    if (pass.dx) rectify_gradient(device, pass.slice.samples() * in.numel(), pass.y, pass.dy, pass.dx);
  }
};

}  // namespace gpunet::nn
