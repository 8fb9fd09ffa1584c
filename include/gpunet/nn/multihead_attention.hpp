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

}  // namespace detail

// y = softmax(Q K^T / sqrt(d)) V W^T + b for x [length, embed], with Q, K, V = the thirds of x W_in^T + b_in, in `heads` heads of d =
// embed / heads features each, as torch.nn.MultiheadAttention(embed, heads, batch_first=True) of (x, x, x) without weights
// (need_weights=False). The parameters are in_proj_weight [3 embed, embed], in_proj_bias [3 embed], out_proj.weight [embed, embed]
// and out_proj.bias [embed]. Options: Causal, Bias<false>, DropoutRate. Vaswani and others, "Attention Is All You Need",
// NeurIPS 2017.
template <index_t heads, class... Options>
class MultiheadAttention {
  static_assert(heads >= 1, "gpunet::nn::MultiheadAttention: the number of heads has to be at least 1");
  static_assert(((detail::is_causal<Options> || detail::is_bias<Options> || detail::is_dropout_rate<Options>)&&...),
                "gpunet::nn::MultiheadAttention: an option is none of Causal, Bias<...> and DropoutRate<...>");
  static constexpr bool bias = detail::has_bias<Options...>;

 public:
  static constexpr bool is_block = true;
  // Returns that the layer can be lowered for device D and element type T: for all of them.
  template <class D, class T>
  static constexpr bool can_run() {
    return true;
  }

  constexpr MultiheadAttention() = default;
  // The probability that a weight is 0 in training mode, instead of the DropoutRate. Throws Error unless it is 0 to 1.
  constexpr explicit MultiheadAttention(double dropout) : dropout_(dropout) {
    require(dropout >= 0 && dropout <= 1, "gpunet::nn::MultiheadAttention: dropout ", dropout,
            " (want 0 to 1), give the probability of a zero: 0.2 for 20 %");
  }

  template <class In>
  constexpr auto output(In in) const {
    static_assert(
        In::rank == 2,
        "gpunet::nn::MultiheadAttention: the input has to have rank 2 [length, embed], give Input two sizes, "
        "or put an Embedding before it");
    if constexpr (In::rank == 2) {
      static_assert(
          divide(std::remove_const_t<decltype(in.template at<1>())>{}),
          "gpunet::nn::MultiheadAttention: the heads do not divide the embedding (each gets embed / heads of "
          "its features), change one");
      require(in.template at<1>() % heads == 0, "gpunet::nn::MultiheadAttention: ", index_t{in.template at<1>()},
              " features in ", heads, " heads (want a number that the heads divide), change one");
    }
    return in;
  }

  // Appends the projections and the attention between them, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const index_t length = in.template at<0>(), embed = in.template at<1>(), size = embed / heads;
    builder.set_block();
    builder.enter("in_proj");
    builder.set_layer(gpunet::detail::signature<Linear<>>());
    value_t y = builder.template add<LinearOp, LinearKernels<>>(LinearOp{embed, 3 * embed, length, bias}, x,
                                                                Sizes{length, 3 * embed});
    builder.leave();
    ParameterSpec weight = uniform("in_proj_weight", {3 * embed, embed},
                                   std::sqrt(3.0) * init::detail::xavier_std({3 * embed, embed}, 1));
    weight.initial.drawn_after = bias ? 3 : 1;  // PyTorch makes out_proj first
    add_parameters(builder, weight, constant("in_proj_bias", {3 * embed}, 0));

    builder.enter("attention");
    builder.set_layer(gpunet::detail::signature<detail::ScaledDotProductAttention>());
    const index_t row = 3 * embed;
    const AttentionOp op{.g = {.heads = heads,
                               .queries = length,
                               .keys = length,
                               .dim = size,
                               .value_dim = size,
                               .q = {0, row, 0},
                               .k = {0, row, embed},
                               .v = {0, row, 2 * embed},
                               .causal = (detail::is_causal<Options> || ...),
                               .scale = 1 / std::sqrt(static_cast<double>(size))},
                         .dropout = dropout_};
    y = builder.add(op, y, in.sizes());
    builder.leave();

    builder.enter("out_proj");
    builder.set_layer(gpunet::detail::signature<Linear<>>());
    y = builder.template add<LinearOp, LinearKernels<>>(LinearOp{embed, embed, length, bias}, y, in.sizes());
    ParameterSpec out_bias = constant("bias", {embed}, 0);
    out_bias.initial.unused = embed;  // PyTorch draws it, then sets it to 0
    add_parameters(builder, uniform("weight", {embed, embed}, kaiming_uniform_bound(embed)), out_bias);
    builder.leave();
    return y;
  }

 private:
  // Returns whether the heads divide the features; true for a run-time size.
  template <index_t embed>
  static constexpr bool divide(Dim<embed>) {
    return embed == dyn || embed % heads == 0;
  }
  template <class Builder>
  static void add_parameters(Builder& builder, const ParameterSpec& weight, const ParameterSpec& of_bias) {
    const std::array both{weight, of_bias};
    builder.add_parameters(std::span<const ParameterSpec>(both).first(bias ? 2 : 1));
  }

  double dropout_ = detail::dropout_rate<DropoutRate<0>, Options...>;
};

}  // namespace gpunet::nn
