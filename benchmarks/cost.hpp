// The cost of a job: operations and bytes that any implementation needs.
#pragma once

#include <gpunet/graph/graph.hpp>

namespace bench {

// The cost of one step. Operations: a multiply-add counts as two. Bytes: those that a cache would
// still have to fetch and write back if it stored everything during the step, but nothing between
// steps.
struct Cost {
  double operations = 0, bytes = 0;
};

// Multiply-adds of convolutions, linear and recurrent layers and attention for one sample, and
// parameters.
struct NetworkSize {
  double forward = 0;  // multiply-adds, all layers
  // Those of the first layer with parameters, whose input needs no gradient.
  double first_layer = 0;
  double parameters = 0;
};

inline NetworkSize measure_network(const gpunet::Graph& graph) {
  NetworkSize size;
  for (const gpunet::Node& node : graph.nodes) {
    double all = 0, biases = 0;
    for (const gpunet::ParameterInfo& p : graph.parameters_of(node)) {
      all += static_cast<double>(p.sizes.numel());
      if (p.sizes.rank() < 2) biases += static_cast<double>(p.sizes.numel());
    }
    double multiply_adds = static_cast<double>(
        node.type->multiply_adds(node.op.data(), graph.input_of(node), graph.output_of(node),
                                 static_cast<gpunet::index_t>(all)));
    // Each parameter of a node is used equally often.
    if (all > 0) multiply_adds *= (all - biases) / all;
    if (size.parameters == 0) size.first_layer += multiply_adds;
    size.forward += multiply_adds;
    if (!node.shares_parameters) size.parameters += all;
  }
  return size;
}

// The cost of a training step: forward pass, gradients of parameters and of inputs (except those of
// the first layer), update. Every parameter and every number that the optimizer stores for it is
// read and written once; gradients never leave the cache.
inline Cost cost_of_training(const gpunet::Graph& graph, double batch, double optimizer_numbers) {
  const NetworkSize size = measure_network(graph);
  const double inputs = batch * static_cast<double>(graph.values[0].numel());
  return {2 * batch * (3 * size.forward - size.first_layer),
          4 * (inputs + 2 * (1 + optimizer_numbers) * size.parameters)};
}

// The cost of a forward pass; every parameter is read once.
inline Cost cost_of_inference(const gpunet::Graph& graph, double batch) {
  const NetworkSize size = measure_network(graph);
  const double ends = static_cast<double>(
      graph.values[0].numel() + graph.values[static_cast<std::size_t>(graph.output)].numel());
  return {2 * batch * size.forward, 4 * (batch * ends + size.parameters)};
}

// The cost of C = A B with n rows and columns each.
inline Cost cost_of_product(double n) {
  return {2 * n * n * n, 3 * 4 * n * n};
}

}  // namespace bench
