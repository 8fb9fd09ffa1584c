// The rectifier.
#pragma once

#include <string_view>

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/relu.hpp>

namespace gpunet::nn {

// y = max(x, 0), element by element, as torch.nn.ReLU.
struct ReLU {
  static constexpr std::string_view function_name = "relu";

  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return in; }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(ReluOp{}, x, in.sizes());
  }
};

}  // namespace gpunet::nn
