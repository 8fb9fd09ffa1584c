// The logistic function.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/elementwise.hpp>
#include <gpunet/ops/saturation/saturation.hpp>

namespace gpunet::nn {

// y = 1 / (1 + exp(-x)), element by element, as torch.nn.Sigmoid.
struct Sigmoid {
  constexpr auto output(auto in) const { return in; }
  // The function, for merging with neighbors (Sequential).
  constexpr Elementary<Logistic, LogisticGradient> function() const { return {}; }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(SigmoidOp{}, x, in.sizes());
  }
};

}  // namespace gpunet::nn
