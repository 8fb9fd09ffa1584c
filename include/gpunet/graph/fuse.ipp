// Bodies of fuse.hpp.
#pragma once

#include <algorithm>
#include <optional>

#include <gpunet/graph/fuse.hpp>
#include <gpunet/ops/add.hpp>
#include <gpunet/ops/batch_norm/batch_norm.hpp>
#include <gpunet/ops/conv2d/conv2d.hpp>
#include <gpunet/ops/linear/linear.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>
#include <gpunet/ops/relu.hpp>

namespace gpunet {

GPUNET_INLINE Graph fuse(Graph graph, const FusePolicy& policy) {
  const std::vector<int> readers = graph.readers();
  std::vector<Node*> reader_of(graph.values.size());
  for (Node& node : graph.nodes)
    for (const value_t value : node.inputs)
      reader_of[static_cast<std::size_t>(value)] = &node;
  // Returns the only reader of the output of `node`; null if there is none or several.
  const auto only_reader = [&](const Node& node) -> Node* {
    const auto value = static_cast<std::size_t>(node.output);
    return readers[value] == 1 ? reader_of[value] : nullptr;
  };
  // Makes `node` compute the output of `next`, and `next` nothing.
  const auto absorb = [](Node& node, Node& next) {
    node.output = next.output;
    node.fused.push_back(next.layer);
    next.inputs.clear();
  };
  for (Node& node : graph.nodes) {
    if (!policy.blocks) break;
    Conv2dOp* convolution = node.as<Conv2dOp>();
    if (convolution && !convolution->can_be_block()) continue;
    LinearOp* linear = node.as<LinearOp>();
    AddOp* sum = node.as<AddOp>();
    if (BatchNormOp* norm = node.as<BatchNormOp>()) {
      Node* next = only_reader(node);
      norm->clamps = next ? graph.traits(*next).clamps : std::nullopt;
      if (norm->clamps) absorb(node, *next);
      continue;
    }
    if (!convolution && !linear && !sum) continue;
    Node* relu = only_reader(node);
    if (!relu || !relu->as<ReluOp>()) continue;
    absorb(node, *relu);
    if (sum) {
      sum->activation = Activation::relu;
      continue;
    }
    if (linear) {
      linear->activation = Activation::relu;
      linear->keeps_relu_bits = policy.keeps_relu_bits && linear->rows == 1;
      continue;
    }
    convolution->activation = Activation::relu;
    Node* pool = only_reader(node);
    const MaxPool2dOp* windows = pool ? pool->as<MaxPool2dOp>() : nullptr;
    if (!windows || windows->ceil_mode || !windows->geometry.has_two_by_two_windows()) continue;
    absorb(node, *pool);
    convolution->pool = true;
  }
  for (Node& node : graph.nodes) {
    Conv2dOp* convolution = node.as<Conv2dOp>();
    if (!policy.clamps_convolutions || !convolution || convolution->transposed ||
        convolution->is_block())
      continue;
    Node* next = only_reader(node);
    const std::optional<Bounds> clamps = next ? graph.traits(*next).clamps : std::nullopt;
    if (!clamps) continue;
    convolution->bounds = *clamps;
    absorb(node, *next);
  }
  for (Node& node : graph.nodes) {
    if (!policy.merges_elementwise || node.inputs.empty()) continue;
    for (Node* next; (next = only_reader(node)) && next->merged.after == node.type;
         absorb(node, *next)) {
      node.type = next->merged.type;
      node.kernels = next->merged.kernels;
      std::copy(next->merged.op.begin(), next->merged.op.end(), node.op.begin());
    }
  }
  std::erase_if(graph.nodes, [](const Node& node) { return node.inputs.empty(); });
  return graph;
}

}  // namespace gpunet
