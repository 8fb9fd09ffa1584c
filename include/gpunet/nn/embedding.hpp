// Vectors for the indices of words or characters.
#pragma once

#include <array>
#include <utility>

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/embedding.hpp>

namespace gpunet::nn {

// y [..., embedding_dim] = the rows of the weight [num_embeddings, embedding_dim] whose indices are
// x [...], as torch.nn.Embedding; Embedding<1000, 64, PaddingIdx<0>> as padding_idx=0. Indices are
// numbers of the network's type, whole and from 0 to num_embeddings - 1: on Host another one is an
// Error, on Cuda its vector is NaN. The layer is the first of a network: indices have no gradient.
template <index_t num_embeddings, index_t embedding_dim, class... Options>
class Embedding {
  static_assert((detail::is_option<PaddingIdx, Options> && ...),
                "gpunet::nn::Embedding: an option is not PaddingIdx<...>");
  static_assert(
      num_embeddings >= 1 && embedding_dim >= 1,
      "gpunet::nn::Embedding: the number of embeddings and their size have to be at least 1");
  static_assert(num_embeddings <= index_t{1} << 24,
                "gpunet::nn::Embedding: more than 2^24 embeddings (floats have no larger indices)");
  static constexpr index_t padding = [] {
    if constexpr (sizeof...(Options) == 0)
      return index_t{-1};
    else
      return index_t{detail::option_dim<PaddingIdx, PaddingIdx<0>, Options...>{}};
  }();
  static_assert(
      padding < num_embeddings,
      "gpunet::nn::Embedding: PaddingIdx is not the index of an embedding (0 is the first)");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Shape(in.template at<I>()..., Dim<embedding_dim>{});
    }
    (std::make_index_sequence<static_cast<std::size_t>(In::rank)>{});
  }

  constexpr auto parameters(auto) const {
    ParameterSpec weight = normal("weight", {num_embeddings, embedding_dim}, 0, 1);
    weight.initial.zero_row = padding;
    return std::array{weight};
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const EmbeddingOp op{in.numel(), num_embeddings, embedding_dim, padding};
    return builder.add(op, x, output(in).sizes(), parameters(in));
  }
};

GPUNET_REFUSED_LAYER(Embedding,
                     "Embedding<1000, 64>, or embedding(x, 1000, 64) in a function of values", 0, 0)

}  // namespace gpunet::nn
