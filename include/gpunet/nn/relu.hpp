// The rectifier.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet::nn {

// y = max(x, 0), element by element; a NaN stays one, as in PyTorch.
struct ReLU {
  struct Value {
    template <class T>
    GPUNET_FN T operator()(T x) const {
      return x < T{} ? T{} : x;
    }
  };
  struct Slope {
    template <class T>
    GPUNET_FN T operator()(T y, T dy) const {
      return y <= T{} ? T{} : dy;
    }
  };

  constexpr auto output(auto in) const { return in; }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass) const {
    map(device, pass.slice.samples() * in.numel(), Value{}, pass.x, pass.y);
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass) const {
    if (pass.dx) map(device, pass.slice.samples() * in.numel(), Slope{}, pass.y, pass.dy, pass.dx);
  }
};

}  // namespace gpunet::nn
