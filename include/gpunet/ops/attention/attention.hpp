// Scaled dot-product attention as a node of a graph.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/attention/arguments.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y_i = sum_j softmax_j(scale q_i . k_j) v_j for each head, as
// torch.nn.functional.scaled_dot_product_attention. q, k and v are parts of one input, or of
// several (AttentionOperand::input). Scores are computed in tiles, with the softmax on the way;
// forward stores the logarithm of the sum of each row, from which backward computes the
// probabilities again. Dao and others, "FlashAttention: Fast and Memory-Efficient Exact Attention
// with IO-Awareness", NeurIPS 2022; Milakov and Gimelshein, "Online normalizer calculation for
// softmax", 2018.
//
// A query whose keys are all ignored gets zeros, and gives no gradients, as in PyTorch's function
// (its nn.MultiheadAttention returns NaN there if it also returns the weights).
struct AttentionOp {
  AttentionGeometry g;
  // The probability that a weight is 0 in training mode; the others are multiplied by
  // 1 / (1 - dropout).
  double dropout = 0;
  // The input [keys] that is nonzero where a key is ignored, key_padding_mask; -1: there is none.
  int mask = -1;

  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.cache_elements = g.heads * g.queries, .uses_random = dropout > 0};
  }
  // Products of all queries and keys, whether they are masked or not.
  index_t multiply_adds(const Sizes&, const Sizes&) const {
    return g.heads * g.queries * g.keys * (g.dim + g.value_dim);
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat("num_heads=", g.heads, g.causal ? ", is_causal=True" : "",
                  dropout > 0 ? concat(", dropout_p=", detail::python_repr(dropout)) : "");
  }
  template <class D, class T>
  index_t scratch(const D& device, const Slice& slice, T) const;

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;

 private:
  // Returns the arguments that both passes have.
  template <class T, class Pass>
  AttentionPass<T> arguments(const Pass& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/attention/attention.ipp>
#endif
