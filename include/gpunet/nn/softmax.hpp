// The softmax layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/softmax.host.hpp>

namespace gpunet::nn {

// Probabilities over the first dimension of a sample (dimension 1 of a batch): [classes, ...] -> the same shape.
// CrossEntropyLoss wants logits: do not put this layer before it.
struct Softmax {
  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank >= 1, "gpunet::nn::Softmax: the input has to have a dimension of classes");
    return in;
  }

  std::string extra_repr(auto) const { return "dim=1"; }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass) const {
    const auto [classes, width] = columns(in, pass.slice);
    softmax_forward(device, pass.slice.outer * width, SoftmaxForward<T>{classes, width, pass.x, pass.y});
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass) const {
    const auto [classes, width] = columns(in, pass.slice);
    if (pass.dx)
      softmax_backward(device, pass.slice.outer * width,
                       SoftmaxBackward<T>{classes, width, pass.y, pass.dy, pass.dx});
  }

 private:
  struct Columns {
    index_t classes, width;
  };
  template <class In>
  static constexpr Columns columns(In in, const Slice& slice) {
    const index_t classes = in.template at<0>();
    return {classes, classes > 0 ? in.numel() / classes * slice.inner : 0};
  }
};

}  // namespace gpunet::nn
