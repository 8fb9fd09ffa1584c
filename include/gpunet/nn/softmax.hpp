// The softmax layer.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/softmax/softmax.hpp>

namespace gpunet::nn {

// Softmax over the first dimension of a sample (dimension 1 of a batch): [classes, ...] -> the same shape. CrossEntropyLoss
// takes logits: do not put this layer before it.
struct Softmax {
  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank >= 1, "gpunet::nn::Softmax: the input has to have a dimension of classes");
    return in;
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(SoftmaxOp{in.template at<0>()}, x, in.sizes());
  }
};

}  // namespace gpunet::nn
