// The encoder of a transformer.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <gpunet/functions/activations.hpp>
#include <gpunet/nn/branches.hpp>
#include <gpunet/nn/dropout.hpp>
#include <gpunet/nn/identity.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/multihead_attention.hpp>
#include <gpunet/nn/normalization.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/relu.hpp>

namespace gpunet::nn {

// Whether the normalizations are before the attention and the linear layers instead of after the
// sums. In PyTorch norm_first=True.
struct NormFirst {};

// A layer of a transformer's encoder, for x [length, embed], as
// torch.nn.TransformerEncoderLayer(embed, heads, feed_forward, batch_first=True):
//   a = norm1(x + dropout1(self_attn(x)))
//   y = norm2(a + dropout2(linear2(dropout(relu(linear1(a))))))
// or, as NormFirst,
//   a = x + dropout1(self_attn(norm1(x)))
//   y = a + dropout2(linear2(dropout(relu(linear1(norm2(a))))))
// Examples:
//   TransformerEncoderLayer<8, 2048>
//   TransformerEncoderLayer<4, 512, NormFirst, Causal, GELU, DropoutRate<0>>
// The parameters are the parameters of self_attn, linear1, linear2, norm1 and norm2. Options:
// NormFirst, Causal, DropoutRate (a tenth by default), GELU or ReLU, Bias<false>.
template <index_t heads, index_t feed_forward = 2048, class... Options>
class TransformerEncoderLayer {
  static_assert(
      feed_forward >= 1,
      "gpunet::nn::TransformerEncoderLayer: the linear layers have no units (want 1 or more)");
  static_assert(
      ((std::is_same_v<Options, NormFirst> || detail::is_causal<Options> ||
        detail::is_bias<Options> || detail::is_dropout_rate<Options> ||
        std::is_same_v<Options, ReLU> || std::is_same_v<Options, GELU>)&&...),
      "gpunet::nn::TransformerEncoderLayer: an option is none of NormFirst, Causal, Bias<...>, "
      "DropoutRate<...>, ReLU and GELU");
  static constexpr bool norm_first = (std::is_same_v<Options, NormFirst> || ...);
  static constexpr bool bias = detail::has_bias<Options...>;
  using Activation = std::conditional_t<(std::is_same_v<Options, GELU> || ...), GELU, ReLU>;
  using Attention = std::conditional_t<(detail::is_causal<Options> || ...),
                                       MultiheadAttention<heads, Bias<bias>, Causal>,
                                       MultiheadAttention<heads, Bias<bias>>>;

 public:
  static constexpr bool is_block = true;
  // Returns that the layer can be lowered for device D and element type T: for all of them.
  template <class D, class T>
  static constexpr bool can_run() {
    return true;
  }

  constexpr TransformerEncoderLayer() = default;
  // The probability of a zero in training mode, instead of the DropoutRate. Throws Error unless it
  // is 0 to 1.
  constexpr explicit TransformerEncoderLayer(double dropout) : dropout_(dropout) {
    require(dropout >= 0 && dropout <= 1, "gpunet::nn::TransformerEncoderLayer: dropout ", dropout,
            " (want 0 to 1), give the probability of a zero: 0.2 for 20 %");
  }

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 2,
                  "gpunet::nn::TransformerEncoderLayer: the input has to have rank 2 [length, "
                  "embed], give Input two sizes, or put an Embedding before it");
    if constexpr (In::rank == 2)
      return Attention{}.output(in);
    else
      return in;
  }

  // Appends all layers, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    constexpr std::array<std::string_view, 5> order{"self_attn", "linear1", "linear2", "norm1",
                                                    "norm2"};
    const std::size_t first = builder.nodes();
    builder.set_block();
    value_t y = x;
    if constexpr (norm_first) {
      const value_t a =
          add(builder, "add1", y, attend(builder, normalize(builder, "norm1", y, in), in), in);
      y = add(builder, "add2", a, feed(builder, normalize(builder, "norm2", a, in), in), in);
    } else {
      const value_t a =
          normalize(builder, "norm1", add(builder, "add1", y, attend(builder, y, in), in), in);
      y = normalize(builder, "norm2", add(builder, "add2", a, feed(builder, a, in), in), in);
    }
    builder.order_parameters(first, order);
    return y;
  }

 private:
  template <class Builder, class In>
  static value_t normalize(Builder& builder, std::string_view name, value_t x, In in) {
    return detail::lower_part(builder, name, LayerNorm<>(LayerNormOptions{.bias = bias}), x, in);
  }
  template <class Builder, class In>
  static value_t add(Builder& builder, std::string_view name, value_t x, value_t y, In in) {
    return detail::join(builder, gpunet::detail::signature<Add>(), name, AddOp{}, std::array{x, y},
                        in.sizes());
  }
  template <class Builder, class In>
  value_t attend(Builder& builder, value_t x, In in) const {
    const value_t y = detail::lower_part(builder, "self_attn", Attention{dropout_}, x, in);
    return detail::lower_part(builder, "dropout1", Dropout{dropout_}, y, in);
  }
  template <class Builder, class In>
  value_t feed(Builder& builder, value_t x, In in) const {
    const Linear<feed_forward, Bias<bias>> widen;
    const auto wide = widen.output(in);
    value_t y = detail::lower_part(builder, "linear1", widen, x, in);
    y = detail::lower_part(builder, "activation", Activation{}, y, wide);
    y = detail::lower_part(builder, "dropout", Dropout{dropout_}, y, wide);
    y = detail::lower_part(builder, "linear2", narrow(in.template at<1>()), y, wide);
    return detail::lower_part(builder, "dropout2", Dropout{dropout_}, y, in);
  }
  // Returns the layer back to the features of the input.
  template <index_t embed>
  static constexpr auto narrow(Dim<embed> features) {
    if constexpr (embed == dyn)
      return Linear<dyn, Bias<bias>>(features, Bias<bias>{});
    else
      return Linear<embed, Bias<bias>>{};
  }

  double dropout_ = detail::dropout_rate<DropoutRate<1, 10>, Options...>;
};

namespace detail {

// The name of the layers of a TransformerEncoder, in print.
class ModuleList;

}  // namespace detail

// N times the same layer, as torch.nn.TransformerEncoder(layer, N): each has parameters of its own,
// layers.0.self_attn.in_proj_weight, and all begin with the initial values of the first. Behind the
// last may be a normalization, whose name is norm:
//   TransformerEncoder<6, TransformerEncoderLayer<8, 2048, NormFirst>, LayerNorm<>>
template <std::size_t N, class Layer, class Norm = Identity>
class TransformerEncoder {
  static_assert(N >= 1, "gpunet::nn::TransformerEncoder: it has 0 layers (want 1 or more)");
  static_assert(detail::check_layer<Layer>() && detail::check_layer<Norm>());

 public:
  static constexpr bool is_block = true;
  // Returns whether the layers can be lowered for device D and element type T.
  template <class D, class T>
  static constexpr bool can_run() {
    return detail::can_run<Layer, D, T>() && detail::can_run<Norm, D, T>();
  }

  constexpr TransformerEncoder() = default;
  constexpr explicit TransformerEncoder(Layer layer, Norm norm = {}) : layer_(layer), norm_(norm) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    const auto out = detail::output_shape(layer_, in);
    static_assert(detail::may_be_same(std::remove_const_t<decltype(out)>{}, In{}),
                  "gpunet::nn::TransformerEncoder: the layer changes the shape (the next one takes "
                  "its output), let it keep it");
    return detail::output_shape(norm_, out);
  }

  // Appends all layers, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    builder.set_block();
    builder.enter("layers");
    builder.set_layer(gpunet::detail::signature<detail::ModuleList>());
    builder.set_block();
    for (std::size_t i = 0; i < N; ++i) {
      const std::size_t before = builder.parameters();
      builder.enter(static_cast<index_t>(i));
      x = nn::lower(builder, layer_, x, in);
      builder.leave();
      if (i > 0) builder.copy_initial_values(builder.parameters() - before);
    }
    builder.leave();
    if constexpr (std::is_same_v<Norm, Identity>)
      return x;
    else
      return detail::lower_part(builder, "norm", norm_, x, in);
  }

 private:
  [[no_unique_address]] Layer layer_{};
  [[no_unique_address]] Norm norm_{};
};

GPUNET_REFUSED_LAYER(TransformerEncoderLayer, "TransformerEncoderLayer<8, 2048> (heads, features)",
                     0, 0)

}  // namespace gpunet::nn
