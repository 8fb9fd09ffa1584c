// Vectors for the places of a sequence.
#pragma once

#include <array>

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/position_embedding.hpp>

namespace gpunet::nn {

// y = x + weight for x [length, embed], with a learned vector for each place, which PyTorch
// programs have as nn.Parameter(torch.randn(length, embed)) or as the weight of an
// nn.Embedding(length, embed). Initial values are as of the latter: normal with mean 0 and standard
// deviation 1.
class PositionEmbedding {
 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::PositionEmbedding: the input has to have rank 2 [length, embed], "
                  "give Input two sizes, or put an Embedding before it");
    return in;
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return std::array{normal("weight", in.sizes(), 0, 1)};
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return builder.add(PositionEmbeddingOp{}, x, in.sizes(), parameters(in));
  }
};

}  // namespace gpunet::nn
