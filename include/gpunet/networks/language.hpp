// Character-level language models, as functions of values: a recurrent network and a transformer.
// Characters as numbers [length] -> logits of the next character at each position [vocabulary,
// length]. Both are causal.
#pragma once

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

namespace gpunet::networks {

using nn::Value;

// A stacked LSTM (Hochreiter and Schmidhuber, 1997).
template <index_t hidden = 128, index_t layers = 2>
struct CharLSTM {
  index_t vocabulary;
  index_t width = 64;  // of the embedding

  // Returns the outputs of the network for x, see nn/value.hpp.
  Value operator()(const Value& x) const {
    Value y = embedding(x, vocabulary, width, "embed");
    y = nn::apply<2>(nn::LSTM<hidden, nn::NumLayers<layers>>{}, y, "lstm");
    return transpose(linear(y, vocabulary, {.name = "head"}), 1, 2);
  }
};

// A causal transformer with learned positions and normalizations before the layers (norm_first), as
// GPT-2 (Radford and others, "Language Models are Unsupervised Multitask Learners", 2019).
template <index_t heads = 4, index_t feed_forward = 512, std::size_t layers = 3>
struct CharTransformer {
  index_t vocabulary;
  index_t width = 128;  // of the embedding and all layers

  // Returns the outputs of the network for x, see nn/value.hpp.
  Value operator()(const Value& x) const {
    using Layer = nn::TransformerEncoderLayer<heads, feed_forward, nn::NormFirst, nn::Causal,
                                              nn::GELU, nn::DropoutRate<0>>;
    Value y = embedding(x, vocabulary, width, "embed");
    y = nn::apply<2>(nn::PositionEmbedding{}, y, "position");
    y = nn::apply<2>(nn::TransformerEncoder<layers, Layer, nn::LayerNorm<>>{}, y, "encoder");
    return transpose(linear(y, vocabulary, {.name = "head"}), 1, 2);
  }
};

}  // namespace gpunet::networks
