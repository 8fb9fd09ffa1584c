// The ONNX operators that gpunet reads, each one function of a node; the list is at the end.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <gpunet/onnx/read_layers.hpp>
#include <gpunet/onnx/read_recurrent.hpp>
#include <gpunet/onnx/read_shapes.hpp>

namespace gpunet::onnx::detail {

inline namespace GPUNET_BACKENDS {

// Reductions and softmax.

template <bool is_mean>
void read_reduce(NodeReader& node) {
  const Value& x = node.value(0);
  const auto axes = node.integers("axes", 1);
  if ((!axes || axes->empty()) && node.attribute("noop_with_empty_axes", index_t{0}) != 0)
    return node.give(x);
  node.want(axes && !axes->empty(), "all axes (the batch is one of them), name those of a sample");
  std::vector<int> dims;
  for (const index_t axis : *axes)
    dims.push_back(node.sample_dim(x, axis));
  std::sort(dims.begin(), dims.end());
  node.want(std::adjacent_find(dims.begin(), dims.end()) == dims.end(), "an axis twice");
  Value y = x;
  if (is_mean && x.sizes().rank() == 3 && dims == std::vector{1, 2})
    y = mean_of_channels(x);
  else
    for (const int dim : dims)
      y = is_mean ? nn::mean(y, dim + 1, true) : nn::sum(y, dim + 1, true);
  if (node.attribute("keepdims", index_t{1}) != 0) return node.give(y);
  Sizes out;
  const int batch = node.batch_dim();
  for (int i = 0; i < y.sizes().rank(); ++i)
    if (!std::binary_search(dims.begin(), dims.end(), i))
      out.append(y.sizes()[i]);
    else if (i < batch)
      node.set_batch_dim(node.batch_dim() - 1);
  node.give(view(y, out));
}

template <bool is_logarithm>
void read_softmax(NodeReader& node) {
  const Value& x = node.value(0);
  const auto of = [](const Value& v, int dim) {
    return is_logarithm ? nn::log_softmax(v, dim) : nn::softmax(v, dim);
  };
  const int dim = node.sample_dim(x, node.attribute("axis", index_t{node.opset() < 13 ? 1 : -1}));
  const int last = x.sizes().rank() - 1;
  if (node.opset() >= 13 || (dim == last && node.batch_dim() <= last))
    return node.give(of(x, dim + 1));
  // Until opset 12, over all dimensions from the axis on.
  node.want_batch_first();
  node.want(dim == 0, "an axis other than 1 and the last, in an opset before 13");
  node.give(view(of(nn::flatten(x), 1), x.sizes()));
}

// Functions of elements.

inline std::optional<double> bound(const NodeReader& node, std::string_view name, std::size_t i) {
  if (const Attribute* found = node.info().find(name)) return found->number;
  if (!node.has(i)) return std::nullopt;
  const std::optional<double> number = node.number(i);
  node.want(number.has_value(), "a bound that is no constant number");
  return number;
}

inline void read_clip(NodeReader& node) {
  const Value& x = node.value(0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double low = bound(node, "min", 1).value_or(-infinity),
               high = bound(node, "max", 2).value_or(infinity);
  if (low == 0 && high == 6)
    node.give(nn::relu6(x));
  else if (std::isfinite(low) && std::isfinite(high) && low < high)
    node.give(nn::hardtanh(x, low, high));
  else
    node.give(nn::clamp(x, low, high));
}

inline void read_pow(NodeReader& node) {
  const std::optional<double> exponent = node.number(1);
  node.want(exponent.has_value(), "an exponent that is no constant number");
  node.give(*exponent == 2 ? nn::square(node.value(0)) : nn::pow(node.value(0), *exponent));
}

inline void read_dropout(NodeReader& node) {
  node.want(node.info().outputs.size() == 1 || node.info().outputs[1].empty(),
            "the mask as output");
  node.want(!node.has(2) || node.number(2) == 0.0,
            "training_mode (export the model in evaluation mode: net.train() of the network "
            "trains it)");
  const double ratio = node.has(1) ? node.number(1).value_or(0.5) : node.attribute("ratio", 0.5);
  node.give(nn::dropout(node.value(0), ratio));
}

inline void read_cast(NodeReader& node) {
  constexpr index_t onnx_float = 1, onnx_double = 11;
  const index_t to = node.attribute("to", index_t{0});
  // Indices of a table are numbers of the network's type.
  const NodeInfo* gather = node.only_reader("Gather");
  node.want(
      to == onnx_float || to == onnx_double ||
          (gather && gather->inputs.size() == 2 && gather->inputs[1] == node.info().outputs[0]),
      concat("a conversion to type ", to, " of ONNX (gpunet computes in one type)"));
  node.give(node.value(0));
}

inline void read_hard_sigmoid(NodeReader& node) {
  const double alpha = node.attribute("alpha", 0.2), beta = node.attribute("beta", 0.5);
  if (std::fabs(alpha - 1.0 / 6) < 1e-7 && beta == 0.5)
    node.give(nn::hardsigmoid(node.value(0)));
  else
    node.give(nn::clamp(node.value(0) * alpha + beta, 0, 1));
}

inline void read_gelu(NodeReader& node) {
  const bool by_tanh = node.attribute("approximate", "none") == std::string_view("tanh");
  node.give(nn::gelu(node.value(0), by_tanh ? nn::Approximate::tanh : nn::Approximate::none));
}

inline void read_selu(NodeReader& node) {
  const double alpha = node.attribute("alpha", nn::SELU::alpha),
               gamma = node.attribute("gamma", nn::SELU::scale);
  if (std::fabs(alpha - nn::SELU::alpha) < 1e-6 && std::fabs(gamma - nn::SELU::scale) < 1e-6)
    node.give(nn::selu(node.value(0)));
  else
    node.give(nn::elu(node.value(0), alpha) * gamma);
}

// Gives f(a, b) for two or more operands; with_number and number_with compute with a constant.
template <class F, class G, class H>
void read_pairs(NodeReader& node, F f, G with_number, H number_with) {
  const std::optional<double> first = node.number(0);
  if (first) return node.give(number_with(*first, node.value(1)));
  if (node.known(0)) {
    const Value& b = node.value(1);
    return node.give(f(node.beside(0, b), b));
  }
  Value a = node.value(0);
  for (std::size_t i = 1; i < node.inputs(); ++i)
    if (const std::optional<double> number = node.number(i))
      a = with_number(a, *number);
    else
      a = f(a, node.beside(i, a));
  node.give(a);
}
inline void read_add(NodeReader& node) {
  const auto add = [](const auto& a, const auto& b) {
    return a + b;
  };
  read_pairs(node, add, add, add);
}
inline void read_sub(NodeReader& node) {
  const auto sub = [](const auto& a, const auto& b) {
    return a - b;
  };
  read_pairs(node, sub, sub, sub);
}
inline void read_mul(NodeReader& node) {
  const auto mul = [](const auto& a, const auto& b) {
    return a * b;
  };
  read_pairs(node, mul, mul, mul);
}
inline void read_div(NodeReader& node) {
  const auto div = [](const auto& a, const auto& b) {
    return a / b;
  };
  read_pairs(node, div, div, div);
}
inline void read_max(NodeReader& node) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto clamp = [](const Value& x, double number) {
    return nn::clamp(x, number, infinity);
  };
  read_pairs(
      node, [](const Value& a, const Value& b) { return nn::maximum(a, b); }, clamp,
      [&](double number, const Value& x) { return clamp(x, number); });
}
inline void read_min(NodeReader& node) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto clamp = [](const Value& x, double number) {
    return nn::clamp(x, -infinity, number);
  };
  read_pairs(
      node, [](const Value& a, const Value& b) { return nn::minimum(a, b); }, clamp,
      [&](double number, const Value& x) { return clamp(x, number); });
}

// Give 1 where a comparison holds, else 0.
inline Value is_positive(const Value& x) {
  return nn::relu(nn::sign(x));
}
inline void read_greater(NodeReader& node) {
  const auto greater = [](const auto& a, const auto& b) {
    return is_positive(a - b);
  };
  read_pairs(node, greater, greater, greater);
}
inline void read_less(NodeReader& node) {
  const auto less = [](const auto& a, const auto& b) {
    return is_positive(b - a);
  };
  read_pairs(node, less, less, less);
}
// Returns operand i where the factor is 1, and 0 where it is 0. Values have to be finite; for
// infinite constants, whose product with 0 is NaN, there is the logarithm of 0 or 1.
inline Value chosen(NodeReader& node, std::size_t i, const Value& factor) {
  const auto infinity_at = [&](const auto& places) {
    return nn::detach(nn::log(1 - factor * places));
  };
  const auto check = [&](double number) {
    node.want(!std::isnan(number),
              "NaN as a constant (gpunet chooses finite and infinite numbers)");
  };
  if (const std::optional<double> number = node.number(i)) {
    check(*number);
    if (std::isfinite(*number)) return factor * *number;
    return *number < 0 ? infinity_at(1.0) : -infinity_at(1.0);
  }
  if (!node.known(i)) return factor * node.beside(i, factor);
  const Known& known = node.weights(i, -1);
  std::vector<double> finite(static_cast<std::size_t>(known.sizes.numel()));
  io::copy_as(known.tensor, std::span(finite));
  std::vector<double> below(finite.size()), above(finite.size());
  bool is_finite = true;
  for (std::size_t k = 0; k < finite.size(); ++k) {
    check(finite[k]);
    if (std::isfinite(finite[k])) continue;
    (finite[k] < 0 ? below : above)[k] = 1;
    finite[k] = 0;
    is_finite = false;
  }
  if (is_finite) return factor * node.beside(i, factor);
  const auto constant = [&](const std::vector<double>& numbers) {
    return nn::Constant(View<const double, Host>(numbers.data(), known.sizes));
  };
  return factor * constant(finite) + infinity_at(constant(below)) - infinity_at(constant(above));
}
inline void read_where(NodeReader& node) {
  node.want_batch_first();
  const Value& condition = node.value(0);
  node.give(chosen(node, 1, condition) + chosen(node, 2, 1 - condition));
}

// A function of one value, by its name here.
#define GPUNET_ONNX_FUNCTION(name)      \
  [](NodeReader& node) {                \
    node.give(nn::name(node.value(0))); \
  }

struct OperatorReader {
  std::string_view op;
  void (*read)(NodeReader& node);
};

// All operators, in alphabetical order.
inline constexpr OperatorReader operator_readers[] = {
    {"Abs", GPUNET_ONNX_FUNCTION(abs)},
    {"Add", read_add},
    {"AveragePool", read_average_pool},
    {"BatchNormalization", read_batch_normalization},
    {"Cast", read_cast},
    {"Ceil", GPUNET_ONNX_FUNCTION(ceil)},
    {"Celu",
     [](NodeReader& node) {
       const double alpha = node.attribute("alpha", 1.0);
       node.give(nn::elu(node.value(0) * (1 / alpha)) * alpha);
     }},
    {"Clip", read_clip},
    {"Concat", read_concat},
    {"Conv", read_conv},
    {"ConvTranspose", read_conv_transpose},
    {"Cos", GPUNET_ONNX_FUNCTION(cos)},
    {"DepthToSpace", read_depth_to_space},
    {"Div", read_div},
    {"Dropout", read_dropout},
    {"Elu",
     [](NodeReader& node) {
       node.give(nn::elu(node.value(0), node.attribute("alpha", 1.0)));
     }},
    {"Erf", GPUNET_ONNX_FUNCTION(erf)},
    {"Exp", GPUNET_ONNX_FUNCTION(exp)},
    {"Flatten", read_flatten},
    {"Floor", GPUNET_ONNX_FUNCTION(floor)},
    {"GRU", read_gru},
    {"Gather", read_gather},
    {"Gelu", read_gelu},
    {"Gemm", read_gemm},
    {"GlobalAveragePool", read_global_average_pool},
    {"Greater", read_greater},
    {"GroupNormalization", read_group_normalization},
    {"HardSigmoid", read_hard_sigmoid},
    {"HardSwish", GPUNET_ONNX_FUNCTION(hardswish)},
    {"Identity",
     [](NodeReader& node) {
       node.give(node.value(0));
     }},
    {"InstanceNormalization", read_instance_normalization},
    {"LSTM", read_lstm},
    {"LayerNormalization", read_layer_normalization},
    {"LeakyRelu",
     [](NodeReader& node) {
       node.give(nn::leaky_relu(node.value(0), node.attribute("alpha", 0.01)));
     }},
    {"Less", read_less},
    {"Log", GPUNET_ONNX_FUNCTION(log)},
    {"LogSoftmax", read_softmax<true>},
    {"MatMul", read_mat_mul},
    {"Max", read_max},
    {"MaxPool", read_max_pool},
    {"Min", read_min},
    {"Mish", GPUNET_ONNX_FUNCTION(mish)},
    {"Mul", read_mul},
    {"Neg",
     [](NodeReader& node) {
       node.give(-node.value(0));
     }},
    {"PRelu", read_p_relu},
    {"Pad", read_pad},
    {"Pow", read_pow},
    {"RNN", read_rnn},
    {"Reciprocal", GPUNET_ONNX_FUNCTION(reciprocal)},
    {"ReduceMean", read_reduce<true>},
    {"ReduceSum", read_reduce<false>},
    {"Relu", GPUNET_ONNX_FUNCTION(relu)},
    {"Reshape", read_reshape},
    {"Resize", read_resize},
    {"Round", GPUNET_ONNX_FUNCTION(round)},
    {"Selu", read_selu},
    {"Sigmoid", GPUNET_ONNX_FUNCTION(sigmoid)},
    {"Sign", GPUNET_ONNX_FUNCTION(sign)},
    {"Sin", GPUNET_ONNX_FUNCTION(sin)},
    {"Slice", read_slice},
    {"Softmax", read_softmax<false>},
    {"Softplus",
     [](NodeReader& node) {
       node.give(nn::softplus(node.value(0)));
     }},
    {"Softsign", GPUNET_ONNX_FUNCTION(softsign)},
    {"Split", read_split},
    {"Sqrt", GPUNET_ONNX_FUNCTION(sqrt)},
    {"Squeeze", read_squeeze},
    {"Sub", read_sub},
    {"Sum", read_add},
    {"Tanh", GPUNET_ONNX_FUNCTION(tanh)},
    {"Transpose", read_transpose},
    {"Unsqueeze", read_unsqueeze},
    {"Where", read_where},
};
#undef GPUNET_ONNX_FUNCTION

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::onnx::detail
