// Bodies of fold_batch_norm.hpp.
#pragma once

#include <cmath>
#include <optional>
#include <utility>

#include <gpunet/core/math.hpp>
#include <gpunet/model/fold_batch_norm.hpp>
#include <gpunet/ops/batch_norm/batch_norm.hpp>
#include <gpunet/ops/conv2d/conv2d.hpp>
#include <gpunet/ops/conv3d/conv3d.hpp>
#include <gpunet/ops/linear/linear.hpp>

namespace gpunet::detail {

// ---- The graph.

// Returns the weights of a convolution or a linear layer; nothing if the op is another one, or its
// weights are a part of a parameter.
GPUNET_INLINE std::optional<ChannelRuns> channel_runs(const Graph& graph, const Node& node) {
  ChannelRuns found{};
  if (const Conv2dOp* const convolution = node.as<Conv2dOp>()) {
    const Conv2dGeometry& g = convolution->geometry;
    found = convolution->transposed
                ? ChannelRuns{g.out_channels * g.ins(), g.area(), g.outs() * g.ins(), g.ins()}
                : ChannelRuns{g.out_channels, g.taps(), g.out_channels, g.out_channels};
  } else if (const Conv3dOp* const volume = node.as<Conv3dOp>()) {
    const Conv2dGeometry& g = volume->plane;
    const index_t ins = g.ins() / volume->planes.kernel;
    found = volume->transposed
                ? ChannelRuns{g.out_channels * ins, g.taps() / ins, g.outs() * ins, ins}
                : ChannelRuns{g.out_channels, g.taps(), g.out_channels, g.out_channels};
  } else if (const LinearOp* const linear = node.as<LinearOp>(); linear && linear->rows == 1) {
    found = {linear->out, linear->in, linear->out, linear->out};
  } else {
    return std::nullopt;
  }
  if (graph.parameters_of(node)[0].sizes.numel() != found.runs * found.size) return std::nullopt;
  return found;
}

// Places the arrays of all nodes one after another, without any others; `first` and `count` are the
// members of a node that number its arrays. Returns their end.
template <class Info>
index_t place_used(std::vector<Info>& arrays, std::vector<index_t>& offsets,
                   std::vector<Node>& nodes, int Node::*first, int Node::*count,
                   std::vector<CommonRange>& copied) {
  std::vector<int> numbers(arrays.size(), -1);
  for (const Node& node : nodes)
    for (int i = node.*first; i < node.*first + node.*count; ++i)
      numbers[static_cast<std::size_t>(i)] = 0;
  std::vector<Info> used;
  offsets.clear();
  index_t end = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (numbers[i] < 0) continue;
    const index_t there = arrays[i].offset,
                  size = round_up(arrays[i].sizes.numel(), parameter_alignment);
    if (!copied.empty() && copied.back().there + copied.back().size == there)
      copied.back().size += size;
    else
      copied.push_back({end, there, size});
    numbers[i] = static_cast<int>(used.size());
    used.push_back(std::move(arrays[i]));
    used.back().offset = end;
    offsets.push_back(end);
    end += size;
  }
  for (Node& node : nodes)
    if (node.*count > 0) node.*first = numbers[static_cast<std::size_t>(node.*first)];
  arrays = std::move(used);
  return end;
}

GPUNET_INLINE FoldedGraph unfolded(const Graph& network) {
  return {network, {{{0, 0, network.parameter_elements}}, {{0, 0, network.buffer_elements}}}, {}};
}

GPUNET_INLINE FoldedGraph fold_batch_norm(const Graph& network) {
  FoldedGraph folded{network, {}, {}};
  Graph& graph = folded.graph;
  graph.watched.clear();
  const std::vector<int> readers = graph.readers();
  std::vector<Node*> maker_of(graph.values.size()), layers;
  std::vector<ParameterInfo> own;  // of these layers
  for (Node& node : graph.nodes) {
    maker_of[static_cast<std::size_t>(node.output)] = &node;
    const auto value = static_cast<std::size_t>(node.inputs[0]);
    const BatchNormOp* const norm = node.as<BatchNormOp>();
    Node* const layer = norm && readers[value] == 1 ? maker_of[value] : nullptr;
    const auto of = layer ? channel_runs(graph, *layer) : std::nullopt;
    if (!of || of->channels() != norm->channels) continue;
    const auto parameters = graph.parameters_of(*layer), of_norm = graph.parameters_of(node);
    const auto buffers = graph.buffers_of(node);
    folded.layers.push_back({.of = *of,
                             .eps = norm->eps,
                             .weight = parameters[0].offset,
                             .bias = parameters.size() > 1 ? parameters[1].offset : -1,
                             .norm_weight = of_norm[0].offset,
                             .norm_bias = of_norm[1].offset,
                             .mean = buffers[0].offset,
                             .variance = buffers[1].offset});
    own.push_back(parameters[0]);
    own.push_back(of_norm[1]);
    own.back().name = concat(layer->name, ".bias");
    layers.push_back(layer);
    layer->output = node.output;
    layer->fused.push_back(node.layer);
    layer->parameters = node.parameters = node.buffers = 0;
    node.inputs.clear();
  }
  if (layers.empty()) return unfolded(network);
  graph.buffer_elements = place_used(graph.buffers, graph.buffer_offsets, graph.nodes,
                                     &Node::first_buffer, &Node::buffers, folded.copied.buffers);
  graph.parameter_elements =
      place_used(graph.parameters, graph.parameter_offsets, graph.nodes, &Node::first_parameter,
                 &Node::parameters, folded.copied.parameters);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i]->first_parameter = static_cast<int>(graph.parameters.size());
    layers[i]->parameters = 2;
    if (Conv2dOp* const convolution = layers[i]->as<Conv2dOp>()) convolution->bias = true;
    if (Conv3dOp* const volume = layers[i]->as<Conv3dOp>()) volume->bias = true;
    if (LinearOp* const linear = layers[i]->as<LinearOp>()) linear->bias = true;
    for (std::size_t j = 2 * i; j < 2 * i + 2; ++j) {
      own[j].offset = graph.parameter_elements;
      graph.parameter_offsets.push_back(own[j].offset);
      graph.parameter_elements = own[j].end();
      graph.parameters.push_back(std::move(own[j]));
    }
    folded.layers[i].folded_weight = graph.parameter_offsets.end()[-2];
    folded.layers[i].folded_bias = graph.parameter_offsets.back();
  }
  std::erase_if(graph.nodes, [](const Node& node) { return node.inputs.empty(); });
  return folded;
}

// ---- The arrays.

// The factor of a channel: w / sqrt(variance + eps).
template <class T>
struct ChannelFactor {
  double eps;
  const T *w, *variance;

  GPUNET_FN double operator[](index_t c) const {
    return static_cast<double>(w[c]) / std::sqrt(static_cast<double>(variance[c]) + eps);
  }
};

// The weights times the factors of their channels. One index = one run.
template <class T>
struct FoldWeights {
  static constexpr bool one_copy = true;
  ChannelRuns of;
  ChannelFactor<T> factor;
  const T* w;
  T* folded;

  GPUNET_FN void operator()(index_t run) const {
    const double by = factor[of.channel_of(run)];
    for (index_t i = run * of.size; i < (run + 1) * of.size; ++i)
      folded[i] = static_cast<T>(static_cast<double>(w[i]) * by);
  }
};

// (bias - mean) factor + norm_bias. One index = one channel.
template <class T>
struct FoldBias {
  static constexpr bool one_copy = true;
  ChannelFactor<T> factor;
  OptionalArray<const T> bias;
  const T *mean, *norm_bias;
  T* folded;

  GPUNET_FN void operator()(index_t c) const {
    const double distance = static_cast<double>(bias[c]) - static_cast<double>(mean[c]);
    folded[c] = static_cast<T>(distance * factor[c] + static_cast<double>(norm_bias[c]));
  }
};

template <class D, class T>
void fold_arrays(D& device, const FoldedGraph& folded, const T* parameters, const T* buffers,
                 T* folded_parameters, T* folded_buffers) {
  const auto copy = [&](const std::vector<CommonRange>& ranges, const T* from, T* to) {
    for (const auto& [here, there, size] : ranges)
      device.copy(to + here, from + there, static_cast<std::size_t>(size) * sizeof(T));
  };
  fill(device, folded.graph.parameter_elements, T{}, folded_parameters);  // the gaps
  copy(folded.copied.parameters, parameters, folded_parameters);
  copy(folded.copied.buffers, buffers, folded_buffers);
  for (const FoldedLayer& layer : folded.layers) {
    const ChannelFactor<T> factor{layer.eps, parameters + layer.norm_weight,
                                  buffers + layer.variance};
    for_each(device, layer.of.runs,
             FoldWeights<T>{layer.of, factor, parameters + layer.weight,
                            folded_parameters + layer.folded_weight});
    for_each(device, layer.of.channels(),
             FoldBias<T>{factor,
                         {layer.bias < 0 ? nullptr : parameters + layer.bias},
                         buffers + layer.mean,
                         parameters + layer.norm_bias,
                         folded_parameters + layer.folded_bias});
  }
}

}  // namespace gpunet::detail
