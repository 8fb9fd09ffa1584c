// The softmax layer and its logarithm.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/softmax/softmax.hpp>

namespace gpunet::nn {

namespace detail {

template <SoftmaxKind kind>
struct SoftmaxLayer {
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank >= 1,
                  "gpunet::nn::Softmax: the input has to have a dimension of classes");
    return in;
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(SoftmaxOp{in.template at<0>(), kind}, x, in.sizes());
  }
};

}  // namespace detail

// Softmax over the first dimension of a sample (dimension 1 of a batch): [classes, ...] -> the same
// shape, as torch.nn.Softmax(dim=1). CrossEntropyLoss takes logits: do not put this layer before
// it.
struct Softmax : detail::SoftmaxLayer<SoftmaxKind::probabilities> {};

// Its logarithm, computed without overflow, as torch.nn.LogSoftmax(dim=1): NLLLoss takes it.
struct LogSoftmax : detail::SoftmaxLayer<SoftmaxKind::logarithms> {};

}  // namespace gpunet::nn
