// Bodies of functional.hpp. gpunet::compiled and gpunet::cuda both contain them: the latter also
// chooses kernels of Cuda.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/padding.hpp>
#include <gpunet/functions/distances.hpp>
#include <gpunet/nn/conv2d.hpp>
#include <gpunet/nn/dropout.hpp>
#include <gpunet/nn/functional.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/multihead_attention.hpp>
#include <gpunet/nn/pooling.hpp>
#include <gpunet/nn/recurrent.hpp>
#include <gpunet/nn/relu.hpp>
#include <gpunet/nn/softmax.hpp>
#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>
#include <gpunet/ops/conv2d/conv2d.hpp>
#include <gpunet/ops/embedding.hpp>
#include <gpunet/ops/gather.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>
#include <gpunet/ops/pick.hpp>

namespace gpunet::nn {

namespace detail {
inline namespace GPUNET_BACKENDS {

template <class Layer>
Value softmax_along(std::string_view function, const Value& x, int dim, SoftmaxKind kind) {
  const int axis = sample_dim(function, x, dim);
  if (axis > 0)
    return transpose(softmax_along<Layer>(function, transpose(x, 1, dim), 1, kind), 1, dim);
  return add_node<Layer>(function, SoftmaxOp{x.sizes()[0], kind}, x, x.sizes());
}

// A convolution with groups or dilation.
GPUNET_BACKENDS_INLINE Value conv2d_with_options(const Value& x, index_t out_channels,
                                                 index_t kernel, const Conv2dOptions& options) {
  const index_t stride = options.stride, padding = options.padding, dilation = options.dilation;
  const index_t groups = options.groups;
  const Sizes in = x.sizes();
  require(out_channels >= 1 && kernel >= 1 && stride >= 1 && padding >= 0 && dilation >= 1,
          "gpunet::nn::conv2d: ", out_channels, " output channels, kernel ", kernel, ", stride ",
          stride, ", padding ", padding, ", dilation ", dilation,
          " (want at least 1, 1, 1, 0, 1), change what is less");
  require(groups >= 1 && in[0] % groups == 0 && out_channels % groups == 0,
          "gpunet::nn::conv2d: ", groups, " groups for ", in[0], " input and ", out_channels,
          " output channels (want a number that divides both), change one");
  require_possible_image("conv2d", in[0], in[1], in[2], padding);
  const index_t reach = (kernel - 1) * dilation + 1;
  require(kernel <= in[1] + in[2] + 2 * padding && reach <= std::min(in[1], in[2]) + 2 * padding,
          "gpunet::nn::conv2d: the kernel (", reach, ") is larger than the padded image (",
          in[1] + 2 * padding, " x ", in[2] + 2 * padding,
          "), use a smaller kernel, a larger image or padding");
  const auto axis = [&](index_t size) {
    return ConvAxis{size,    (size + 2 * padding - reach) / stride + 1, kernel, stride, padding,
                    dilation};
  };
  const ConvAxis rows = axis(in[1]), columns = axis(in[2]);
  const index_t channels = in[0] / groups, fan_in = channels * kernel * kernel;
  const std::array parameters{
      uniform("weight", {out_channels, channels, kernel, kernel}, kaiming_uniform_bound(fan_in)),
      uniform("bias", {out_channels}, bias_bound(fan_in))};
  const Conv2dGeometry geometry{in[0], out_channels, groups, rows, columns};
  const Sizes out{out_channels, rows.outputs, columns.outputs};
  const auto specified = std::span(parameters).first(options.bias ? 2 : 1);
  return add_node<Conv2d<>, Conv2dOp, Conv2dKernels<WideConv2dGeometry>>(
      "conv2d", Conv2dOp{geometry, options.bias}, x, out, specified, options.name);
}

// Returns the numbers of windows of a pooling, for images. Throws Error for wrong options.
GPUNET_BACKENDS_INLINE Sizes pooled_sizes(const char* function, const Value& x, index_t kernel,
                                          index_t stride, const PoolOptions& options) {
  require_rank(function, x, 3, "images [batch, channels, height, width]");
  require(kernel >= 1 && kernel <= 255 && stride >= 1 && options.padding >= 0 &&
              options.padding <= kernel / 2,
          "gpunet::nn::", function, ": kernel ", kernel, ", stride ", stride, ", padding ",
          options.padding,
          " (want 1 to 255, 1 or more, 0 to half the kernel), change what is out of range");
  Sizes out{x.sizes()[0]};
  for (const int dim : {1, 2}) {
    const index_t windows =
        pool_windows(x.sizes()[dim], {kernel, stride, options.padding, options.ceil_mode});
    require(windows >= 1, "gpunet::nn::", function, ": the kernel (", kernel,
            ") is larger than the padded image of shape ", shape_text(x.sizes()),
            ", use a smaller kernel or a larger image");
    out.append(windows);
  }
  return out;
}

template <class Layer>
Value norm_of_last(std::string_view function, const Value& x, RowNormOp op, std::string_view name) {
  const Sizes in = x.sizes();
  require(in.rank() >= 1, "gpunet::nn::", function, ": a value of shape ", shape_text(in),
          " (want a last dimension of features), reshape it");
  check_eps("layer_norm, rms_norm", op.eps < 0 ? 0 : op.eps);
  op.dims = 1;
  op.geometry.length = in[in.rank() - 1];
  op.geometry.rows = in.numel() / op.geometry.length;
  const std::array parameters{constant("weight", {op.geometry.length}, 1),
                              constant("bias", {op.geometry.length}, 0)};
  return add_node<Layer>(function, op, x, in,
                         std::span(parameters).first(op.weight ? (op.bias ? 2 : 1) : 0), name);
}

// Throws Error unless the mask of keys has their number.
GPUNET_BACKENDS_INLINE void require_mask(std::string_view function,
                                         const std::optional<Value>& mask, index_t keys) {
  require(!mask || mask->sizes() == Sizes{keys}, "gpunet::nn::", function, ": a mask of shape ",
          mask ? shape_text(mask->sizes()) : "", " (want [batch, ", keys,
          "], a number for each key)");
}

GPUNET_BACKENDS_INLINE void require_probability(std::string_view function, double p) {
  require(p >= 0 && p <= 1, "gpunet::nn::", function, ": dropout ", p,
          " (want 0 to 1), give the probability of a zero: 0.2 for 20 %");
}

// Appends a recurrent layer with the initial states `states`: h_0, or h_0 and c_0. Returns output,
// h_n and, for LSTM, c_n.
template <class Layer, class Cell, class Options>
std::vector<Value> recurrent(std::string_view function, const Value& x, index_t hidden_size,
                             const Options& options,
                             std::initializer_list<std::optional<Value>> states) {
  require_rank(function, x, 2, "sequences [batch, steps, features]");
  const Sizes in = x.sizes();
  const int directions = options.bidirectional ? 2 : 1;
  require(hidden_size >= 1 && options.num_layers >= 1 && options.num_layers <= 64,
          "gpunet::nn::", function, ": ", options.num_layers, " layers of ", hidden_size,
          " units (want 1 to 64, and 1 or more), change one");
  require_probability(function, options.dropout);
  require(options.dropout == 0 || options.num_layers > 1, "gpunet::nn::", function, ": dropout ",
          options.dropout,
          " of one layer (it would do nothing, zeros are made between layers), give num_layers, or "
          "call dropout");
  const Sizes state{options.num_layers * directions, hidden_size};
  std::vector<Value> inputs{x};
  for (const std::optional<Value>& initial : states) {
    require(initial.has_value() == states.begin()->has_value(), "gpunet::nn::", function,
            ": one of h_0 and c_0 is missing (want both, or none for zeros), give both");
    if (!initial) continue;
    require(initial->sizes() == state, "gpunet::nn::", function, ": an initial state of shape ",
            shape_text(initial->sizes()), " (want ", shape_text(state),
            ": layers * directions, units), reshape it");
    inputs.push_back(*initial);
  }
  const RecurrentGeometry g{.steps = in[0],
                            .in = in[1],
                            .hidden = hidden_size,
                            .layers = options.num_layers,
                            .directions = directions,
                            .bias = options.bias,
                            .dropout = options.dropout,
                            .initial_states = inputs.size() > 1,
                            .final_states = true};
  const RecurrentParameters parameters(g, Cell::gates);
  const index_t all_steps = g.steps * g.out();
  const Value all =
      add_node<Layer>(function, RecurrentOp<Cell>{g}, inputs,
                      Sizes{all_steps + static_cast<index_t>(states.size()) * state.numel()},
                      parameters.specs(), options.name);
  const std::size_t first = x.builder().nodes();
  std::vector<Value> results{reshape(narrow(all, 1, 0, all_steps), {g.steps, g.out()})};
  for (std::size_t i = 0; i < states.size(); ++i)
    results.push_back(
        reshape(narrow(all, 1, all_steps + static_cast<index_t>(i) * state.numel(), state.numel()),
                {state[0], state[1]}));
  x.builder().set_packing(first);
  return results;
}

// The name of the block, and of pad's node, in print.
class TransformerDecoderLayer;
class Pad;

GPUNET_BACKENDS_INLINE void require_targets(std::string_view loss, const Value& x,
                                            const Value& target) {
  require(x.sizes() == target.sizes(), "gpunet::nn::", loss, ": targets of shape ",
          shape_text(target.sizes()), " for values of shape ", shape_text(x.sizes()),
          " (want the same), reshape one");
}

// Throws Error unless x is [batch, classes, ...] and target [batch, ...].
GPUNET_BACKENDS_INLINE void require_classes(std::string_view loss, const Value& x,
                                            const Value& target) {
  require(x.sizes().rank() >= 1, "gpunet::nn::", loss, ": a value of shape ", shape_text(x.sizes()),
          " (want [batch, classes, ...]), reshape it");
  require(x.sizes().tail() == target.sizes(), "gpunet::nn::", loss, ": targets of shape ",
          shape_text(target.sizes()), " for values of shape ", shape_text(x.sizes()), " (want ",
          shape_text(x.sizes().tail()), ", the index of a class for each), reshape one");
}

}  // namespace GPUNET_BACKENDS
}  // namespace detail

inline namespace GPUNET_BACKENDS {

GPUNET_BACKENDS_INLINE Value relu(const Value& x) {
  return detail::add_node<ReLU>("relu", ReluOp{}, x, x.sizes());
}

GPUNET_BACKENDS_INLINE Value softmax(const Value& x, int dim) {
  return detail::softmax_along<Softmax>("softmax", x, dim, SoftmaxKind::probabilities);
}
GPUNET_BACKENDS_INLINE Value log_softmax(const Value& x, int dim) {
  return detail::softmax_along<LogSoftmax>("log_softmax", x, dim, SoftmaxKind::logarithms);
}

GPUNET_BACKENDS_INLINE Value linear(const Value& x, index_t out_features,
                                    const LinearOptions& options) {
  const Sizes in = x.sizes();
  require(in.rank() >= 1, "gpunet::nn::linear: a value of shape ", detail::shape_text(in),
          " (want a last dimension of features), reshape it");
  require(out_features >= 1, "gpunet::nn::linear: ", out_features,
          " outputs (want 1 or more), give out_features");
  const index_t features = in[in.rank() - 1];
  const LinearOp op{features, out_features, in.numel() / features, options.bias};
  Sizes out;
  for (int i = 0; i + 1 < in.rank(); ++i)
    out.append(in[i]);
  out.append(out_features);
  const std::array parameters{
      uniform("weight", {out_features, features}, kaiming_uniform_bound(features)),
      uniform("bias", {out_features}, bias_bound(features))};
  return detail::add_node<Linear<>, LinearOp, LinearKernels<>>(
      "linear", op, x, out, std::span(parameters).first(options.bias ? 2 : 1), options.name);
}

GPUNET_BACKENDS_INLINE Value conv2d(const Value& x, index_t out_channels, index_t kernel_size,
                                    const Conv2dOptions& options) {
  detail::require_rank("conv2d", x, 3, "images [batch, channels, height, width]");
  if (options.groups != 1 || options.dilation != 1)
    return detail::conv2d_with_options(x, out_channels, kernel_size, options);
  if (options.bias)
    return apply<3>(Conv2d{out_channels, kernel_size, options.stride, options.padding}, x,
                    options.name);
  return apply<3>(Conv2d{out_channels, kernel_size, options.stride, options.padding, Bias<false>{}},
                  x, options.name);
}

GPUNET_BACKENDS_INLINE Value pad(const Value& x, std::initializer_list<index_t> paddings,
                                 std::string_view mode, double value) {
  const std::span<const index_t> given(paddings.begin(), paddings.size());
  const PadMode how = pad_mode_of("gpunet::nn::pad", mode);
  require(how == PadMode::constant || value == 0, "gpunet::nn::pad: value ", value,
          " for the mode \"", mode, "\" (it adds elements of x), leave one out");
  const Sizes out = padded_sizes("gpunet::nn::pad", how, x.sizes(), given);
  if (given.empty()) return x;
  return detail::add_node<detail::Pad>(
      "pad", GatherOp::padding(GatherOp::Kind::pad_with_mode, how, x.sizes(), given, value), x,
      out);
}

GPUNET_BACKENDS_INLINE Value max_pool2d(const Value& x, index_t kernel_size,
                                        const PoolOptions& options) {
  const index_t stride = options.stride == 0 ? kernel_size : options.stride;
  const Sizes out = detail::pooled_sizes("max_pool2d", x, kernel_size, stride, options);
  const Sizes in = x.sizes();
  return detail::add_node<MaxPool2dOp>(
      "max_pool2d",
      MaxPool2dOp{{in[0], in[1], in[2], out[1], out[2], kernel_size, stride, options.padding},
                  options.ceil_mode},
      x, out);
}
GPUNET_BACKENDS_INLINE Value avg_pool2d(const Value& x, index_t kernel_size,
                                        const PoolOptions& options) {
  const index_t stride = options.stride == 0 ? kernel_size : options.stride;
  const Sizes out = detail::pooled_sizes("avg_pool2d", x, kernel_size, stride, options);
  const Sizes in = x.sizes();
  return detail::add_node<AvgPool2dOp>(
      "avg_pool2d",
      AvgPool2dOp{{in[0],
                   {in[1], out[1], kernel_size, stride, options.padding},
                   {in[2], out[2], kernel_size, stride, options.padding}}},
      x, out);
}
GPUNET_BACKENDS_INLINE Value adaptive_avg_pool2d(const Value& x, index_t height, index_t width) {
  detail::require_rank("adaptive_avg_pool2d", x, 3, "images [batch, channels, height, width]");
  require(height >= 1 && width >= 1 && height <= 1 << 16 && width <= 1 << 16,
          "gpunet::nn::adaptive_avg_pool2d: an output of ", height, " x ", width,
          " (want 1 to 65536 each)");
  const Sizes in = x.sizes();
  return detail::add_node<AvgPool2dOp>("adaptive_avg_pool2d",
                                       AvgPool2dOp{{in[0], {in[1], height}, {in[2], width}}}, x,
                                       Sizes{in[0], height, width});
}

GPUNET_BACKENDS_INLINE Value batch_norm(const Value& x, const BatchNormOptions& options,
                                        std::string_view name) {
  switch (x.sizes().rank()) {
    case 1:
      return apply<1>(BatchNorm1d(options), x, name);
    case 2:
      return apply<2>(BatchNorm1d(options), x, name);
    case 4:
      return apply<4>(BatchNorm3d(options), x, name);
    default:
      return apply<3>(BatchNorm2d(options), x, name);
  }
}

GPUNET_BACKENDS_INLINE Value layer_norm(const Value& x, const LayerNormOptions& options,
                                        std::string_view name) {
  detail::check_eps("layer_norm", options.eps);
  const bool affine = options.elementwise_affine;
  return detail::norm_of_last<LayerNorm<>>(
      "layer_norm", x, {RowNormKind::layer, {}, 1, options.eps, affine, affine && options.bias},
      name);
}
GPUNET_BACKENDS_INLINE Value rms_norm(const Value& x, const RMSNormOptions& options,
                                      std::string_view name) {
  if (options.eps) detail::check_eps("rms_norm", *options.eps);
  return detail::norm_of_last<RMSNorm<>>(
      "rms_norm", x,
      {RowNormKind::rms, {}, 1, options.eps.value_or(-1), options.elementwise_affine, false}, name);
}
GPUNET_BACKENDS_INLINE Value group_norm(const Value& x, index_t num_groups,
                                        const GroupNormOptions& options, std::string_view name) {
  const Sizes in = x.sizes();
  require(in.rank() >= 1 && num_groups >= 1 && in[0] % num_groups == 0,
          "gpunet::nn::group_norm: a value of shape ", detail::shape_text(in), " in ", num_groups,
          " groups (want channels that the groups divide)");
  detail::check_eps("group_norm", options.eps);
  const RowNormOp op{RowNormKind::group,
                     {num_groups, in.numel() / num_groups, in[0] / num_groups},
                     0,
                     options.eps,
                     options.affine,
                     options.affine};
  const std::array parameters{constant("weight", {in[0]}, 1), constant("bias", {in[0]}, 0)};
  return detail::add_node<GroupNorm<1>>("group_norm", op, x, in,
                                        std::span(parameters).first(options.affine ? 2 : 0), name);
}

GPUNET_BACKENDS_INLINE Value dropout(const Value& x, double p) {
  static_cast<void>(Dropout(p));  // checks p
  return detail::add_node<Dropout>("dropout", DropoutOp{p, x.sizes().numel(), 1}, x, x.sizes());
}

GPUNET_BACKENDS_INLINE Value embedding(const Value& x, index_t num_embeddings,
                                       index_t embedding_dim, std::string_view name) {
  require(num_embeddings >= 1 && embedding_dim >= 1 && num_embeddings <= index_t{1} << 24,
          "gpunet::nn::embedding: ", num_embeddings, " embeddings of ", embedding_dim,
          " numbers (want 1 to 2^24, as floats have no larger indices, and 1 or more), check the "
          "arguments");
  Sizes out = x.sizes();
  out.append(embedding_dim);
  const std::array parameters{normal("weight", {num_embeddings, embedding_dim}, 0, 1)};
  return detail::add_node<EmbeddingOp>(
      "embedding", EmbeddingOp{x.sizes().numel(), num_embeddings, embedding_dim}, x, out,
      parameters, name);
}

GPUNET_BACKENDS_INLINE Value scaled_dot_product_attention(const Value& query, const Value& key,
                                                          const Value& value,
                                                          const AttentionOptions& options) {
  constexpr std::string_view function = "scaled_dot_product_attention";
  const Sizes q = query.sizes(), k = key.sizes(), v = value.sizes();
  const bool has_heads = q.rank() == 3;
  const int length = has_heads ? 1 : 0, features = length + 1;
  require(q.rank() == features + 1 && k.rank() == q.rank() && v.rank() == q.rank() &&
              q[features] == k[features] && k[length] == v[length] &&
              (!has_heads || (q[0] == k[0] && q[0] == v[0])),
          "gpunet::nn::", function, ": query ", detail::shape_text(q), ", key ",
          detail::shape_text(k), ", value ", detail::shape_text(v),
          " (want [batch, heads, queries, features], [batch, heads, keys, features], [batch, "
          "heads, keys, value "
          "features], or all without heads)");
  detail::require_mask(function, options.key_padding_mask, k[length]);
  detail::require_probability(function, options.dropout_p);
  // The op has the heads of a place one after another.
  const auto by_place = [has_heads](const Value& x) {
    return has_heads ? transpose(x, 1, 2) : x;
  };
  std::vector<Value> inputs{by_place(query), by_place(key), by_place(value)};
  const index_t heads = has_heads ? q[0] : 1, dim = q[features], value_dim = v[features];
  AttentionOp op{.g = {.heads = heads,
                       .queries = q[length],
                       .keys = k[length],
                       .dim = dim,
                       .value_dim = value_dim,
                       .q = {0, heads * dim, 0},
                       .k = {1, heads * dim, 0},
                       .v = {2, heads * value_dim, 0},
                       .causal = options.is_causal,
                       .scale = 1 / std::sqrt(static_cast<double>(dim))},
                 .dropout = options.dropout_p};
  if (options.key_padding_mask) {
    op.mask = 3;
    inputs.push_back(*options.key_padding_mask);
  }
  const Sizes out = has_heads ? Sizes{q[length], heads, value_dim} : Sizes{q[length], value_dim};
  return by_place(detail::add_node<detail::ScaledDotProductAttention>(function, op, inputs, out));
}

GPUNET_BACKENDS_INLINE Value multihead_attention(const Value& query, const Value& memory,
                                                 index_t num_heads,
                                                 const MultiheadAttentionOptions& options) {
  constexpr std::string_view function = "multihead_attention";
  detail::require_same_network(function, std::array{query, memory});
  const Sizes q = query.sizes(), m = memory.sizes();
  require(q.rank() == 2 && m.rank() == 2 && q[1] == m[1], "gpunet::nn::", function, ": query ",
          detail::shape_text(q), ", memory ", detail::shape_text(m),
          " (want [batch, queries, embed] and [batch, keys, embed])");
  require(num_heads >= 1 && q[1] % num_heads == 0, "gpunet::nn::", function, ": ", q[1],
          " features in ", num_heads, " heads (want a number that the heads divide), change one");
  detail::require_mask(function, options.key_padding_mask, m[0]);
  detail::require_probability(function, options.dropout);
  if (options.key_padding_mask)
    detail::require_same_network(function, std::array{query, *options.key_padding_mask});
  detail::ValueBuilder& builder = query.builder();
  const detail::ValueBuilder::Part part(builder, options.name);
  builder.set_layer(gpunet::detail::signature<MultiheadAttention<1>>());
  builder.set_block();
  return Value(
      query.shared_builder(),
      detail::lower_attention(
          builder, {num_heads, q[1], q[0], m[0], options.is_causal, options.bias, options.dropout},
          query.number(), memory.number(),
          options.key_padding_mask ? options.key_padding_mask->number() : -1));
}

GPUNET_BACKENDS_INLINE Value transformer_decoder_layer(const Value& target, const Value& memory,
                                                       index_t num_heads,
                                                       const TransformerDecoderOptions& options) {
  constexpr std::array<std::string_view, 7> order{
      "self_attn", "multihead_attn", "linear1", "linear2", "norm1", "norm2", "norm3"};
  detail::require_same_network("transformer_decoder_layer", std::array{target, memory});
  require(options.dim_feedforward >= 1,
          "gpunet::nn::transformer_decoder_layer: ", options.dim_feedforward,
          " units (want 1 or more), check dim_feedforward");
  const detail::ValueBuilder::Part part(target.builder(), options.name);
  target.builder().set_layer(gpunet::detail::signature<detail::TransformerDecoderLayer>());
  target.builder().set_block();
  const std::size_t first = target.builder().nodes();
  const double p = options.dropout;
  const auto to_itself = [&](const Value& x) {
    return dropout(multihead_attention(x, x, num_heads,
                                       {.is_causal = options.tgt_is_causal,
                                        .dropout = p,
                                        .key_padding_mask = options.tgt_key_padding_mask,
                                        .name = "self_attn"}),
                   p);
  };
  const auto to_memory = [&](const Value& x) {
    return dropout(multihead_attention(x, memory, num_heads,
                                       {.dropout = p,
                                        .key_padding_mask = options.memory_key_padding_mask,
                                        .name = "multihead_attn"}),
                   p);
  };
  const auto feed = [&](const Value& x) {
    require(options.activation != nullptr,
            "gpunet::nn::transformer_decoder_layer: the activation is null, give a function of a "
            "value, such as relu");
    const Value wide = options.activation(linear(x, options.dim_feedforward, {.name = "linear1"}));
    return dropout(linear(dropout(wide, p), x.size(-1), {.name = "linear2"}), p);
  };
  Value y = target;
  if (options.norm_first) {
    y = y + to_itself(layer_norm(y, {}, "norm1"));
    y = y + to_memory(layer_norm(y, {}, "norm2"));
    y = y + feed(layer_norm(y, {}, "norm3"));
  } else {
    y = layer_norm(y + to_itself(y), {}, "norm1");
    y = layer_norm(y + to_memory(y), {}, "norm2");
    y = layer_norm(y + feed(y), {}, "norm3");
  }
  target.builder().order_parameters(first, order);
  return y;
}

GPUNET_BACKENDS_INLINE LSTMOutput lstm(const Value& x, index_t hidden_size,
                                       const LSTMOptions& options) {
  const std::vector<Value> results = detail::recurrent<LSTM<1>, LstmCell>(
      "lstm", x, hidden_size, options, {options.h_0, options.c_0});
  return {results[0], results[1], results[2]};
}
GPUNET_BACKENDS_INLINE GRUOutput gru(const Value& x, index_t hidden_size,
                                     const GRUOptions& options) {
  const std::vector<Value> results =
      detail::recurrent<GRU<1>, GruCell>("gru", x, hidden_size, options, {options.h_0});
  return {results[0], results[1]};
}
GPUNET_BACKENDS_INLINE RNNOutput rnn(const Value& x, index_t hidden_size,
                                     const RNNOptions& options) {
  const bool relu = options.nonlinearity == "relu";
  require(relu || options.nonlinearity == "tanh", "gpunet::nn::rnn: nonlinearity ",
          options.nonlinearity, " (want tanh or relu), call lstm or gru for other cells");
  const std::vector<Value> results =
      relu ? detail::recurrent<RNN<1>, RnnCell<true>>("rnn", x, hidden_size, options, {options.h_0})
           : detail::recurrent<RNN<1>, RnnCell<false>>("rnn", x, hidden_size, options,
                                                       {options.h_0});
  return {results[0], results[1]};
}

GPUNET_BACKENDS_INLINE Value gather(const Value& x, const Value& indices) {
  const Sizes in = x.sizes();
  require(in.rank() >= 1 && in.tail() == indices.sizes(), "gpunet::nn::gather: values of shape ",
          detail::shape_text(in), " and indices of shape ", detail::shape_text(indices.sizes()),
          " (want [batch, classes, ...] and [batch, ...]), reshape one");
  return detail::add_node<PickOp>("gather", PickOp{in[0], in.numel() / in[0]},
                                  std::array{x, indices}, indices.sizes());
}

GPUNET_BACKENDS_INLINE Value pairwise_distance(const Value& a, const Value& b, double eps) {
  return apply_function(functions::Length(), sum(square(a - b + eps), -1));
}
GPUNET_BACKENDS_INLINE Value cosine_similarity(const Value& a, const Value& b, double eps) {
  return functions::cosine(a, b, -1, eps);
}

GPUNET_BACKENDS_INLINE Value nll_loss(const Value& x, const Value& target) {
  detail::require_classes("nll_loss", x, target);
  return -mean(gather(x, target));
}
GPUNET_BACKENDS_INLINE Value cross_entropy(const Value& x, const Value& target) {
  detail::require_classes("cross_entropy", x, target);
  return nll_loss(log_softmax(x, 1), target);
}
GPUNET_BACKENDS_INLINE Value cosine_embedding_loss(const Value& a, const Value& b,
                                                   const Value& target, double margin) {
  const Value cosine = functions::cosine_of_embeddings(a, b);
  detail::require_targets("cosine_embedding_loss", cosine, target);
  return mean(functions::cosine_embedding_error(cosine, target, margin));
}
GPUNET_BACKENDS_INLINE Value triplet_margin_loss(const Value& anchor, const Value& positive,
                                                 const Value& negative, double margin) {
  return mean(functions::triplet_error(pairwise_distance(anchor, positive),
                                       pairwise_distance(anchor, negative), margin));
}

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::nn
