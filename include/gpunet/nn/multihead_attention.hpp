// Self-attention with several heads.
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <type_traits>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/init.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/attention/attention.hpp>

namespace gpunet::nn {

namespace detail {

// The name of the node, in print.
class ScaledDotProductAttention;

template <class Option>
inline constexpr bool is_causal = std::is_same_v<Option, Causal>;

template <class Option>
inline constexpr bool is_dropout_rate = is_option<DropoutRate, Option>;

// The rate of the DropoutRate among options.
template <class Default, class... Options>
inline constexpr double dropout_rate = option<DropoutRate, Default, Options...>::value;

// Appends a part of a block under a name of its own.
template <class Builder, class L, class In>
value_t lower_part(Builder& builder, std::string_view name, const L& layer, value_t x, In in) {
  builder.enter(name);
  const value_t y = nn::lower(builder, layer, x, in);
  builder.leave();
  return y;
}

// The sizes and options of an attention with projections.
struct ProjectedAttention {
  index_t heads, embed, queries, keys;
  bool causal = false, bias = true;
  double dropout = 0;
};

// Appends the nodes of MultiheadAttention: projections of `query` [queries, embed] and of `memory`
// [keys, embed], which may be the same value, and the attention between them. mask: a value [keys],
// nonzero where a key is ignored; -1: there is none.
template <class Builder>
value_t lower_attention(Builder& builder, const ProjectedAttention& of, value_t query,
                        value_t memory, value_t mask = -1) {
  const index_t embed = of.embed, size = embed / of.heads;
  const bool is_self = query == memory;
  const auto add_parameters = [&](const ParameterSpec& weight, const ParameterSpec& bias) {
    const std::array both{weight, bias};
    builder.add_parameters(std::span<const ParameterSpec>(both).first(of.bias ? 2 : 1));
  };
  builder.enter("in_proj");
  builder.set_layer(gpunet::detail::signature<Linear<>>());
  const index_t of_query = (is_self ? 3 : 1) * embed;
  const value_t q = builder.template add<LinearOp, LinearKernels<>>(
      LinearOp{embed, of_query, of.queries, of.bias}, query, Sizes{of.queries, of_query});
  builder.leave();
  ParameterSpec weight = uniform("in_proj_weight", {3 * embed, embed},
                                 std::sqrt(3.0) * init::detail::xavier_std({3 * embed, embed}, 1));
  weight.initial.drawn_after = of.bias ? 3 : 1;  // PyTorch makes out_proj first
  add_parameters(weight, constant("in_proj_bias", {3 * embed}, 0));

  value_t inputs[] = {q, q, mask};
  std::size_t count = 1;
  AttentionOp op{.g = {.heads = of.heads,
                       .queries = of.queries,
                       .keys = of.keys,
                       .dim = size,
                       .value_dim = size,
                       .q = {0, of_query, 0},
                       .k = {0, 3 * embed, embed},
                       .v = {0, 3 * embed, 2 * embed},
                       .causal = of.causal,
                       .scale = 1 / std::sqrt(static_cast<double>(size))},
                 .dropout = of.dropout};
  if (!is_self) {
    builder.enter("in_proj_of_memory");
    LinearOp map{embed, 2 * embed, of.keys, of.bias};
    map.first_row = embed;
    inputs[count++] =
        builder.template add<LinearOp, LinearKernels<>>(map, memory, Sizes{of.keys, 2 * embed});
    builder.use_second_part();
    builder.leave();
    op.g.k = {1, 2 * embed, 0};
    op.g.v = {1, 2 * embed, embed};
  }
  if (mask >= 0) {
    op.mask = static_cast<int>(count);
    inputs[count++] = mask;
  }
  const Sizes out{of.queries, embed};
  builder.enter("attention");
  builder.set_layer(gpunet::detail::signature<ScaledDotProductAttention>());
  value_t y = builder.add(op, std::span<const value_t>(inputs, count), out);
  builder.leave();

  builder.enter("out_proj");
  builder.set_layer(gpunet::detail::signature<Linear<>>());
  y = builder.template add<LinearOp, LinearKernels<>>(LinearOp{embed, embed, of.queries, of.bias},
                                                      y, out);
  ParameterSpec bias = constant("bias", {embed}, 0);
  bias.initial.unused = embed;  // PyTorch draws it, then sets it to 0
  add_parameters(uniform("weight", {embed, embed}, kaiming_uniform_bound(embed)), bias);
  builder.leave();
  return y;
}

}  // namespace detail

// y = softmax(Q K^T / sqrt(d)) V W^T + b for x [length, embed], with Q, K, V = the thirds of x
// W_in^T + b_in, in `heads` heads of d = embed / heads features each, as
// torch.nn.MultiheadAttention(embed, heads, batch_first=True) of (x, x, x) without weights
// (need_weights=False). The parameters are in_proj_weight [3 embed, embed], in_proj_bias [3 embed],
// out_proj.weight [embed, embed] and out_proj.bias [embed]. Options: Causal, Bias<false>,
// DropoutRate. Vaswani and others, "Attention Is All You Need", NeurIPS 2017.
template <index_t heads, class... Options>
class MultiheadAttention {
  static_assert(heads >= 1,
                "gpunet::nn::MultiheadAttention: the number of heads has to be at least 1");
  static_assert(((detail::is_causal<Options> || detail::is_bias<Options> ||
                  detail::is_dropout_rate<Options>)&&...),
                "gpunet::nn::MultiheadAttention: an option is none of Causal, Bias<...> and "
                "DropoutRate<...>");
  static constexpr bool bias = detail::has_bias<Options...>;

 public:
  static constexpr bool is_block = true;
  // Returns that the layer can be lowered for device D and element type T: for all of them.
  template <class D, class T>
  static constexpr bool can_run() {
    return true;
  }

  constexpr MultiheadAttention() = default;
  // The probability that a weight is 0 in training mode, instead of the DropoutRate. Throws Error
  // unless it is 0 to 1.
  constexpr explicit MultiheadAttention(double dropout) : dropout_(dropout) {
    require(dropout >= 0 && dropout <= 1, "gpunet::nn::MultiheadAttention: dropout ", dropout,
            " (want 0 to 1), give the probability of a zero: 0.2 for 20 %");
  }

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::MultiheadAttention: the input has to have rank 2 [length, embed], "
                  "give Input two sizes, or put an Embedding before it");
    if constexpr (In::rank == 2) {
      static_assert(divide(std::remove_const_t<decltype(in.template at<1>())>{}),
                    "gpunet::nn::MultiheadAttention: the heads do not divide the embedding (each "
                    "gets embed / heads of its features), change one");
      require(in.template at<1>() % heads == 0,
              "gpunet::nn::MultiheadAttention: ", index_t{in.template at<1>()}, " features in ",
              heads, " heads (want a number that the heads divide), change one");
    }
    return in;
  }

  // Appends the projections and the attention between them, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const index_t length = in.template at<0>(), embed = in.template at<1>();
    builder.set_block();
    constexpr bool causal = (detail::is_causal<Options> || ...);
    return detail::lower_attention(builder, {heads, embed, length, length, causal, bias, dropout_},
                                   x, x);
  }

 private:
  // Returns whether the heads divide the features; true for a run-time size.
  template <index_t embed>
  static constexpr bool divide(Dim<embed>) {
    return embed == dyn || embed % heads == 0;
  }

  double dropout_ = detail::dropout_rate<DropoutRate<0>, Options...>;
};

GPUNET_REFUSED_LAYER(MultiheadAttention, "MultiheadAttention<8> (heads)", 0)

}  // namespace gpunet::nn
