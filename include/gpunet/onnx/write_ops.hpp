// The ops of networks as ONNX operators, each one function of a node; the list is at the end.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/functions/activations.hpp>
#include <gpunet/functions/elementwise.hpp>
#include <gpunet/functions/pairs.hpp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/identity.hpp>
#include <gpunet/nn/pooling.hpp>
#include <gpunet/nn/reshape.hpp>
#include <gpunet/onnx/node_writer.hpp>
#include <gpunet/onnx/write_recurrent.hpp>
#include <gpunet/ops/add.hpp>
#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>
#include <gpunet/ops/batch_norm/batch_norm.hpp>
#include <gpunet/ops/binary.hpp>
#include <gpunet/ops/concat.hpp>
#include <gpunet/ops/conv2d/conv2d.hpp>
#include <gpunet/ops/dropout.hpp>
#include <gpunet/ops/elementwise.hpp>
#include <gpunet/ops/embedding.hpp>
#include <gpunet/ops/gather.hpp>
#include <gpunet/ops/linear/linear.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>
#include <gpunet/ops/prelu.hpp>
#include <gpunet/ops/relu.hpp>
#include <gpunet/ops/row_norm/row_norm.hpp>
#include <gpunet/ops/softmax/softmax.hpp>
#include <gpunet/ops/sources.hpp>
#include <gpunet/ops/sum.hpp>

namespace gpunet::onnx::detail {

// Layers with weights.

inline void write_linear(NodeWriter& node, const char*) {
  const LinearOp& op = *node.node().as<LinearOp>();
  if (node.node().has_second_part || op.first_row != 0 ||
      node.parameter_sizes(0) != Sizes{op.out, op.in})
    node.fail("a part of a weight");
  if (node.in().rank() == 1)
    return node.give(op.bias ? node.add("Gemm", {node.x(), node.parameter(0), node.parameter(1)},
                                        {attribute("transB", index_t{1})})
                             : node.add("Gemm", {node.x(), node.parameter(0)},
                                        {attribute("transB", index_t{1})}));
  const std::string weight = node.transposed(node.parameter(0), {1, 0});
  const std::string y = node.add("MatMul", {node.x(), weight});
  node.give(op.bias ? node.add("Add", {y, node.parameter(1)}) : y);
}

inline void write_conv(NodeWriter& node, const char*) {
  const Conv2dOp& op = *node.node().as<Conv2dOp>();
  const Conv2dGeometry& g = op.geometry;
  std::vector<ConvAxis> axes{g.rows, g.columns};
  if (node.in().rank() == 2) axes.erase(axes.begin());
  std::vector<index_t> kernel, strides, dilations, before, after, more;
  for (const ConvAxis& axis : axes) {
    kernel.push_back(axis.kernel), strides.push_back(axis.stride);
    dilations.push_back(axis.dilation), before.push_back(axis.padding);
    const index_t read = (axis.outputs - 1) * axis.stride + axis.reach() - axis.padding;
    const index_t rest = axis.size - read;  // elements behind the last window, or missing ones
    if (op.transposed) {
      // Elements behind the outputs of the last window, with the same padding on both sides.
      const index_t behind = rest + axis.padding;
      more.push_back(std::max<index_t>(0, behind));
      after.push_back(axis.padding + more.back() - behind);
    } else {
      const bool is_even =
          axis.size + axis.padding >= read && axis.size + axis.padding - read < axis.stride;
      after.push_back(is_even ? axis.padding : std::max<index_t>(0, -rest));
    }
  }
  before.insert(before.end(), after.begin(), after.end());
  std::vector<ProtoMessage> attributes{
      attribute("kernel_shape", kernel), attribute("strides", strides),
      attribute("dilations", dilations), attribute("pads", before), attribute("group", g.groups)};
  if (op.transposed) attributes.push_back(attribute("output_padding", more));
  const char* name = op.transposed ? "ConvTranspose" : "Conv";
  node.give(op.bias ? node.add(name, {node.x(), node.parameter(0), node.parameter(1)}, attributes)
                    : node.add(name, {node.x(), node.parameter(0)}, attributes));
}

inline void write_batch_norm(NodeWriter& node, const char*) {
  const BatchNormOp& op = *node.node().as<BatchNormOp>();
  std::vector<ProtoMessage> attributes{attribute("epsilon", static_cast<float>(op.eps))};
  if (op.momentum >= 0)
    attributes.push_back(attribute("momentum", static_cast<float>(1 - op.momentum)));
  node.give(
      node.add("BatchNormalization",
               {node.x(), node.parameter(0), node.parameter(1), node.buffer(0), node.buffer(1)},
               attributes));
}

inline void write_row_norm(NodeWriter& node, const char*) {
  const RowNormOp& op = *node.node().as<RowNormOp>();
  const ProtoMessage eps = attribute("epsilon", static_cast<float>(op.eps));
  if (op.kind == RowNormKind::rms) node.fail("RMSNorm");
  if (op.kind == RowNormKind::layer) {
    Sizes row;
    for (int i = node.in().rank() - op.dims; i < node.in().rank(); ++i)
      row.append(node.in()[i]);
    const std::string weight =
        op.weight ? node.parameter(0)
                  : node.writer().numbers(
                        "ones", row, std::vector<double>(static_cast<std::size_t>(row.numel()), 1));
    const std::vector<ProtoMessage> attributes{eps, attribute("axis", index_t{-op.dims})};
    return node.give(
        op.bias ? node.add("LayerNormalization", {node.x(), weight, node.parameter(1)}, attributes)
                : node.add("LayerNormalization", {node.x(), weight}, attributes));
  }
  // Groups as the channels of an instance normalization, and their parameters behind it.
  const Sizes in = node.in();
  const index_t groups = op.kind == RowNormKind::instance ? in[0] : op.geometry.rows;
  const auto all = [&](const char* name, double value) {
    return node.writer().numbers(name, {groups},
                                 std::vector<double>(static_cast<std::size_t>(groups), value));
  };
  if (groups == in[0] && op.weight && op.bias)
    return node.give(
        node.add("InstanceNormalization", {node.x(), node.parameter(0), node.parameter(1)}, {eps}));
  std::vector<index_t> shape{0};
  shape.insert(shape.end(), in.begin(), in.end());
  std::string y = node.add("Reshape", {node.x(), node.writer().integers("shape", {0, groups, -1})});
  y = node.add("InstanceNormalization", {y, all("ones", 1), all("zeros", 0)}, {eps});
  y = node.add("Reshape", {y, node.writer().integers("shape", shape)});
  std::vector<index_t> channels(static_cast<std::size_t>(in.rank()), 1);
  channels[0] = in[0];
  const auto parameter = [&](int i) {
    return node.add("Reshape", {node.parameter(i), node.writer().integers("shape", channels)});
  };
  if (op.weight) y = node.add("Mul", {y, parameter(0)});
  if (op.bias) y = node.add("Add", {y, parameter(1)});
  node.give(y);
}

inline void write_embedding(NodeWriter& node, const char*) {
  const std::string indices =
      node.add("Cast", {node.x()}, {attribute("to", static_cast<index_t>(ElementType::int64))});
  node.give(node.add("Gather", {node.parameter(0), indices}));
}

inline void write_prelu(NodeWriter& node, const char*) {
  const PReLUOp& op = *node.node().as<PReLUOp>();
  std::vector<index_t> shape(static_cast<std::size_t>(node.in().rank()), 1);
  if (op.slopes > 1) shape[0] = op.slopes;
  node.give(node.add(
      "PRelu", {node.x(),
                node.add("Reshape", {node.parameter(0), node.writer().integers("shape", shape)})}));
}

// Poolings.

// The windows of a pooling along one dimension.
struct WrittenWindows {
  index_t size, outputs, kernel, stride, padding;

  index_t count(bool ceil) const {
    return nn::detail::pool_windows(size, {kernel, stride, padding, ceil});
  }
};

// With ceil_mode, or else with padding on one side, if the windows are not those of equal padding
// without it. Padding that an average counts is never on one side: windows of ceil_mode end there.
inline void add_pool(NodeWriter& node, const char* op, const std::vector<WrittenWindows>& axes,
                     bool counts_padding, std::vector<ProtoMessage> attributes) {
  const auto all = [&](bool ceil) {
    return std::all_of(axes.begin(), axes.end(), [ceil](const WrittenWindows& axis) {
      return axis.count(ceil) == axis.outputs;
    });
  };
  const bool floors = all(false), ceil = !floors && all(true);
  if (!floors && !ceil && counts_padding) node.fail("windows that end behind the padding");
  std::vector<index_t> kernels, strides, pads, after;
  for (const auto& [size, outputs, kernel, stride, padding] : axes) {
    kernels.push_back(kernel), strides.push_back(stride), pads.push_back(padding);
    after.push_back(floors || ceil
                        ? padding
                        : std::max<index_t>(0, (outputs - 1) * stride + kernel - size - padding));
  }
  pads.insert(pads.end(), after.begin(), after.end());
  attributes.push_back(attribute("kernel_shape", kernels));
  attributes.push_back(attribute("strides", strides));
  attributes.push_back(attribute("pads", pads));
  if (ceil) attributes.push_back(attribute("ceil_mode", index_t{1}));
  node.give(node.add(op, {node.x()}, attributes));
}

inline void write_max_pool(NodeWriter& node, const char* name) {
  const Pool2dGeometry& g = node.node().as<MaxPool2dOp>()->geometry;
  std::vector<WrittenWindows> axes{
      {g.width, g.out_width, g.kernel_width, g.stride_width, g.padding_width}};
  if (node.in().rank() == 3)
    axes.insert(axes.begin(), {g.height, g.out_height, g.kernel, g.stride, g.padding});
  add_pool(node, name, axes, false, {});
}

inline void write_avg_pool(NodeWriter& node, const char* name) {
  const AvgPool2dGeometry& g = node.node().as<AvgPool2dOp>()->geometry;
  if (g.is_global()) return node.give(node.add("GlobalAveragePool", {node.x()}));
  std::vector<WrittenWindows> axes;
  for (const PoolAxis& axis : {g.rows, g.columns}) {
    axes.push_back({axis.size, axis.outputs, axis.kernel, axis.stride, axis.padding});
    if (axis.kernel != 0) continue;
    if (axis.size % axis.outputs != 0) node.fail("adaptive windows of different sizes");
    axes.back() = {axis.size, axis.outputs, axis.size / axis.outputs, axis.size / axis.outputs, 0};
  }
  if (node.in().rank() == 2) axes.erase(axes.begin(), axes.end() - 1);
  const bool counts_padding = g.columns.counts_padding;
  add_pool(node, name, axes, counts_padding,
           {attribute("count_include_pad", index_t{counts_padding})});
}

// Shapes.

inline void write_reshape(NodeWriter& node, const char*) {
  if (node.in() == node.out()) return node.give(node.x());
  if (node.out().rank() == 1)
    return node.give(node.add("Flatten", {node.x()}, {attribute("axis", index_t{1})}));
  std::vector<index_t> shape{0};
  shape.insert(shape.end(), node.out().begin(), node.out().end());
  node.give(node.add("Reshape", {node.x(), node.writer().integers("shape", shape)}));
}

inline void write_same(NodeWriter& node, const char*) {
  node.give(node.any(), node.has_batch(0));
}

inline void write_concat(NodeWriter& node, const char*) {
  const Graph& graph = node.writer().network().graph;
  if (!graph.outputs.empty() && node.node().output == graph.output)
    return node.give("outputs");  // outputs of the model one by one
  std::string y = node.x(0);
  for (std::size_t i = 1; i < node.node().inputs.size(); ++i)
    y = node.add("Concat", {y, node.x(i)},
                 {attribute("axis", index_t{node.node().as<ConcatOp>()->dim})});
  node.give(y);
}

inline void write_narrow(NodeWriter& node, const char*) {
  const NarrowOp& op = *node.node().as<NarrowOp>();
  if (node.node().is_packing)
    if (const std::string* part = node.writer().part(node.node().inputs[0], op.first))
      return node.give(*part);
  const Sizes &in = node.in(), &out = node.out();
  if (in == out) return node.give(node.x());
  int dim = 0;
  while (dim < in.rank() && (dim >= out.rank() || in[dim] == out[dim]))
    ++dim;
  if (in.rank() != out.rank() || dim == in.rank()) node.fail("a part of a value in another shape");
  const index_t each = op.all / in[dim];
  GraphWriter& w = node.writer();
  node.give(node.add(
      "Slice", {node.x(), w.integers("starts", {op.first / each}),
                w.integers("ends", {op.first / each + out[dim]}), w.integers("axes", {dim + 1})}));
}

inline void write_pad(NodeWriter& node, const GatherOp& op, const std::vector<index_t>& pads) {
  constexpr std::string_view names[] = {"constant", "reflect", "edge", "wrap"};
  PadMode mode = PadMode::constant;
  for (std::size_t i = 0; i < op.rank; ++i)
    if (op.axes[i].mode != PadMode::constant) mode = op.axes[i].mode;
  if (mode == PadMode::circular && node.opset() < 19)
    node.fail("a circular padding below opset 19");
  const std::string amounts = node.writer().integers("pads", pads);
  const auto how = attribute("mode", names[static_cast<std::size_t>(mode)]);
  node.give(op.fill == 0 ? node.add("Pad", {node.x(), amounts}, {how})
                         : node.add("Pad", {node.x(), amounts, node.number(op.fill)}, {how}));
}

inline void write_gather(NodeWriter& node, const char*) {
  const GatherOp& op = *node.node().as<GatherOp>();
  std::vector<index_t> perm{0}, before{0}, after{0};
  for (std::size_t i = 0; i < op.rank; ++i) {
    const GatherAxis& axis = op.axes[i];
    perm.push_back(axis.place + 1);
    before.push_back(axis.padding), after.push_back(axis.outputs - axis.inputs - axis.padding);
  }
  switch (op.kind) {
    case GatherOp::Kind::permute:
      return node.give(node.transposed(node.x(), perm));
    case GatherOp::Kind::pad:
    case GatherOp::Kind::pad_with_value:
    case GatherOp::Kind::pad_with_mode:
      before.insert(before.end(), after.begin(), after.end());
      return write_pad(node, op, before);
    case GatherOp::Kind::pixel_shuffle:
      return node.give(node.add("DepthToSpace", {node.x()},
                                {attribute("blocksize", op.axes[2].outputs),
                                 attribute("mode", std::string_view("CRD"))}));
    case GatherOp::Kind::upsample:
      const auto factor = static_cast<float>(op.axes[2].outputs);
      std::vector<float> scales(static_cast<std::size_t>(node.in().rank()) + 1, factor);
      scales[0] = scales[1] = 1;
      return node.give(
          node.add("Resize",
                   {node.x(), "",
                    node.writer().tensor(node.writer().fresh("scales"), {std::ssize(scales)},
                                         std::as_bytes(std::span(scales)), ElementType::single)},
                   {attribute("mode", std::string_view("nearest")),
                    attribute("coordinate_transformation_mode", std::string_view("asymmetric")),
                    attribute("nearest_mode", std::string_view("floor"))}));
  }
}

inline void write_sum(NodeWriter& node, const char*) {
  const SumOp& op = *node.node().as<SumOp>();
  const Sizes& in = node.in();
  int dim = 0;
  for (index_t rows = 1; dim < in.rank() && !(rows == op.rows && in[dim] == op.length); ++dim)
    rows *= in[dim];
  if (dim == in.rank()) node.fail("a sum over several dimensions");
  const bool is_mean = op.scale != 1;
  if (is_mean && op.scale != 1 / static_cast<double>(op.length)) node.fail("a scaled sum");
  const char* name = is_mean ? "ReduceMean" : "ReduceSum";
  node.give(is_mean && node.opset() < 18
                ? node.add(name, {node.x()}, {attribute("axes", std::vector<index_t>{dim + 1})})
                : node.add(name, {node.x(), node.writer().integers("axes", {dim + 1})}));
}

// Arithmetic.

// Gives the operator for all inputs, from the first to the last.
inline void write_pairs(NodeWriter& node, const char* op) {
  int rank = 0;
  for (std::size_t i = 0; i < node.node().inputs.size(); ++i)
    rank = std::max(rank, node.in(i).rank());
  std::string y;
  bool has_batch = false;
  for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
    std::string x = node.any(i);
    std::vector<index_t> axes;  // between the batch and the others, which are aligned at the last
    for (int k = node.in(i).rank(); k < rank; ++k)
      axes.push_back(std::ssize(axes) + 1);
    if (node.has_batch(i) && !axes.empty())
      x = node.add("Unsqueeze", {x, node.writer().integers("axes", axes)});
    y = i == 0 ? x : node.add(op, {y, x});
    has_batch = has_batch || node.has_batch(i);
  }
  node.give(y, has_batch);
}

inline void write_softmax(NodeWriter& node, const char*) {
  const bool logarithms = node.node().as<SoftmaxOp>()->kind == SoftmaxKind::logarithms;
  node.give(
      node.add(logarithms ? "LogSoftmax" : "Softmax", {node.x()}, {attribute("axis", index_t{1})}));
}

inline void write_parameter(NodeWriter& node, const char*) {
  node.give(node.parameter(0), false);
}

inline void write_constant(NodeWriter& node, const char*) {
  const std::vector<double>& all = node.writer().network().graph.constants;
  const auto first = all.begin() + node.node().as<ConstantOp>()->first;
  node.give(node.writer().numbers("constant", node.out(), {first, first + node.out().numel()}),
            false);
}

// Functions of elements.

inline void write_unary(NodeWriter& node, const char* op) {
  node.give(node.add(op, {node.any()}), node.has_batch(0));
}

// Gives f(x), where f appends nodes and returns the last one's output.
template <class F>
void give_function(NodeWriter& node, F f) {
  const std::string x = node.any();
  node.give(f(x), node.has_batch(0));
}

template <class F>
const F& function_of(const NodeWriter& node) {
  return node.node().as<ElementwiseOp<F>>()->f;
}

inline std::string clip(NodeWriter& node, const std::string& x, double low, double high) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (high == infinity) return node.add("Clip", {x, node.number(low)});
  return node.add("Clip", {x, low == -infinity ? "" : node.number(low), node.number(high)});
}

inline void write_affine(NodeWriter& node, const char*) {
  const auto& f = function_of<functions::Affine>(node);
  give_function(node, [&](std::string x) {
    if (f.scale == -1) x = node.add("Neg", {x});
    if (f.scale != 1 && f.scale != -1) x = node.add("Mul", {x, node.number(f.scale)});
    return f.offset == 0 ? x : node.add("Add", {x, node.number(f.offset)});
  });
}

inline void write_gelu_by_erf(NodeWriter& node, const char*) {
  give_function(node, [&](const std::string& x) {
    if (node.opset() >= 20) return node.add("Gelu", {x});
    const std::string erf = node.add("Erf", {node.add("Mul", {x, node.number(std::sqrt(0.5))})});
    return node.add(
        "Mul", {node.add("Mul", {x, node.number(0.5)}), node.add("Add", {erf, node.number(1)})});
  });
}

inline void write_gelu_by_tanh(NodeWriter& node, const char*) {
  using F = nn::detail::GELUByTanh;
  give_function(node, [&](const std::string& x) {
    if (node.opset() >= 20)
      return node.add("Gelu", {x}, {attribute("approximate", std::string_view("tanh"))});
    // sqrt(2 / pi) (x + 0.044715 x^3)
    const std::string square = node.add("Mul", {node.add("Mul", {x, x}), node.number(F::cubic)});
    const std::string inner = node.add("Mul", {x, node.add("Add", {square, node.number(1)})});
    const std::string tanh = node.add("Tanh", {node.add("Mul", {inner, node.number(F::root)})});
    return node.add(
        "Mul", {node.add("Mul", {x, node.number(0.5)}), node.add("Add", {tanh, node.number(1)})});
  });
}

struct OperatorWriter {
  const OpType* type;
  void (*write)(NodeWriter& node, const char* op);
  const char* op = nullptr;  // for functions of several operators
};

template <class F>
inline constexpr const OpType* type_of_function = &op_type<ElementwiseOp<F>>;
template <class F>
inline constexpr const OpType* type_of_pairs = &op_type<BinaryOp<F>>;

// All ops.
inline constexpr OperatorWriter operator_writers[] = {
    {&op_type<AddOp>, write_pairs, "Add"},
    {&op_type<AvgPool2dOp>, write_avg_pool, "AveragePool"},
    {&op_type<BatchNormOp>, write_batch_norm},
    {&op_type<ConcatOp>, write_concat},
    {&op_type<ConstantOp>, write_constant},
    {&op_type<Conv2dOp>, write_conv},
    {&op_type<DetachOp>, write_same},
    {&op_type<DropoutOp>, write_same},
    {&op_type<EmbeddingOp>, write_embedding},
    {&op_type<GatherOp>, write_gather},
    {&op_type<LastStepOp>, write_last_step},
    {&op_type<LinearOp>, write_linear},
    {&op_type<MaxPool2dOp>, write_max_pool, "MaxPool"},
    {&op_type<NarrowOp>, write_narrow},
    {&op_type<PReLUOp>, write_prelu},
    {&op_type<ParameterOp>, write_parameter},
    {&op_type<RecurrentOp<GruCell>>, write_recurrent<GruCell>, "GRU"},
    {&op_type<RecurrentOp<LstmCell>>, write_recurrent<LstmCell>, "LSTM"},
    {&op_type<RecurrentOp<RnnCell<false>>>, write_recurrent<RnnCell<false>>, "RNN"},
    {&op_type<RecurrentOp<RnnCell<true>>>, write_recurrent<RnnCell<true>>, "RNN"},
    {&op_type<ReluOp>, write_unary, "Relu"},
    {&op_type<RowNormOp>, write_row_norm},
    {&op_type<SoftmaxOp>, write_softmax},
    {&op_type<SumOp>, write_sum},
    {&op_type<nn::Flatten>, write_reshape},
    {&op_type<nn::Identity>, write_same},
    {&op_type<nn::detail::ReshapeOp>, write_reshape},
    {type_of_pairs<functions::BroadcastSum>, write_pairs, "Add"},
    {type_of_pairs<functions::Difference>, write_pairs, "Sub"},
    {type_of_pairs<functions::Product>, write_pairs, "Mul"},
    {type_of_pairs<functions::Quotient>, write_pairs, "Div"},
    {type_of_pairs<functions::Maximum>, write_pairs, "Max"},
    {type_of_pairs<functions::Minimum>, write_pairs, "Min"},
    {type_of_function<functions::Abs>, write_unary, "Abs"},
    {type_of_function<functions::Affine>, write_affine},
    {type_of_function<functions::Ceil>, write_unary, "Ceil"},
    {type_of_function<functions::Clamp>,
     [](NodeWriter& node, const char*) {
       const auto& f = function_of<functions::Clamp>(node);
       give_function(node, [&](const std::string& x) { return clip(node, x, f.low, f.high); });
     }},
    {type_of_function<functions::Cos>, write_unary, "Cos"},
    {type_of_function<functions::Erf>, write_unary, "Erf"},
    {type_of_function<functions::Exp>, write_unary, "Exp"},
    {type_of_function<functions::Floor>, write_unary, "Floor"},
    {type_of_function<functions::Log>, write_unary, "Log"},
    {type_of_function<functions::Pow>,
     [](NodeWriter& node, const char*) {
       const double exponent = function_of<functions::Pow>(node).exponent;
       give_function(node, [&](const std::string& x) {
         return node.add("Pow", {x, node.number(exponent)});
       });
     }},
    {type_of_function<functions::Reciprocal>,
     [](NodeWriter& node, const char*) {
       const double numerator = function_of<functions::Reciprocal>(node).numerator;
       give_function(node, [&](const std::string& x) {
         return numerator == 1 ? node.add("Reciprocal", {x})
                               : node.add("Div", {node.number(numerator), x});
       });
     }},
    {type_of_function<functions::Round>, write_unary, "Round"},
    {type_of_function<functions::Sign>, write_unary, "Sign"},
    {type_of_function<functions::Sin>, write_unary, "Sin"},
    {type_of_function<functions::Sqrt>, write_unary, "Sqrt"},
    {type_of_function<functions::Square>,
     [](NodeWriter& node, const char*) {
       give_function(node, [&](const std::string& x) { return node.add("Mul", {x, x}); });
     }},
    {type_of_function<nn::ELU>,
     [](NodeWriter& node, const char*) {
       const auto alpha = static_cast<float>(function_of<nn::ELU>(node).options()[0]);
       give_function(node, [&](const std::string& x) {
         return node.add("Elu", {x}, {attribute("alpha", alpha)});
       });
     }},
    {type_of_function<nn::Hardsigmoid>,
     [](NodeWriter& node, const char*) {
       give_function(node, [&](const std::string& x) {
         return node.add("HardSigmoid", {x}, {attribute("alpha", 1.f / 6)});
       });
     }},
    {type_of_function<nn::Hardswish>, write_unary, "HardSwish"},
    {type_of_function<nn::Hardtanh>,
     [](NodeWriter& node, const char*) {
       const auto [low, high] = function_of<nn::Hardtanh>(node).options();
       give_function(node, [&, from = low, to = high](const std::string& x) {
         return clip(node, x, from, to);
       });
     }},
    {type_of_function<nn::LeakyReLU>,
     [](NodeWriter& node, const char*) {
       const auto slope = static_cast<float>(function_of<nn::LeakyReLU>(node).options()[0]);
       give_function(node, [&](const std::string& x) {
         return node.add("LeakyRelu", {x}, {attribute("alpha", slope)});
       });
     }},
    {type_of_function<nn::LogSigmoid>,
     [](NodeWriter& node, const char*) {
       give_function(node, [&](const std::string& x) {
         return node.add("Neg", {node.add("Softplus", {node.add("Neg", {x})})});
       });
     }},
    {type_of_function<nn::Mish>,
     [](NodeWriter& node, const char*) {
       give_function(node, [&](const std::string& x) {
         return node.add("Mul", {x, node.add("Tanh", {node.add("Softplus", {x})})});
       });
     }},
    {type_of_function<nn::ReLU6>,
     [](NodeWriter& node, const char*) {
       give_function(node, [&](const std::string& x) { return clip(node, x, 0, 6); });
     }},
    {type_of_function<nn::SELU>, write_unary, "Selu"},
    {type_of_function<nn::SiLU>,
     [](NodeWriter& node, const char*) {
       give_function(node, [&](const std::string& x) {
         return node.add("Mul", {x, node.add("Sigmoid", {x})});
       });
     }},
    {type_of_function<nn::Sigmoid>, write_unary, "Sigmoid"},
    {type_of_function<nn::Softplus>,
     [](NodeWriter& node, const char*) {
       const double beta = function_of<nn::Softplus>(node).options()[0];
       give_function(node, [&](const std::string& x) {
         if (beta == 1) return node.add("Softplus", {x});
         return node.add("Div", {node.add("Softplus", {node.add("Mul", {x, node.number(beta)})}),
                                 node.number(beta)});
       });
     }},
    {type_of_function<nn::Softsign>, write_unary, "Softsign"},
    {type_of_function<nn::Tanh>, write_unary, "Tanh"},
    {type_of_function<nn::detail::GELUByErf>, write_gelu_by_erf},
    {type_of_function<nn::detail::GELUByTanh>, write_gelu_by_tanh},
};

}  // namespace gpunet::onnx::detail
