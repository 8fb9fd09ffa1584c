// The cost of a job: operations and bytes that any implementation needs.
#pragma once

#include <gpunet/nn/sequential.hpp>

namespace bench {

// The cost of one step. Operations: a multiply-add counts as two. Bytes: those that a cache would still have to fetch
// and write back if it stored everything during the step, but nothing between steps.
struct Cost {
  double operations = 0, bytes = 0;
};

// Multiply-adds of the convolutions and linear layers for one sample, and parameters.
struct NetworkSize {
  double forward = 0;      // multiply-adds, all layers
  double first_layer = 0;  // those of the first of them
  double parameters = 0;
};

template <class Net>
NetworkSize measure_network(const Net& net) {
  NetworkSize size;
  const gpunet::Graph graph = gpunet::nn::lower<void, void>(net);
  for (const gpunet::Node& node : graph.nodes)
    for (const gpunet::ParameterInfo& p : graph.parameters_of(node)) {
      size.parameters += static_cast<double>(p.sizes.numel());
      if (p.sizes.rank() < 2) continue;  // a bias
      const double positions = static_cast<double>(graph.output_of(node).numel()) / static_cast<double>(p.sizes[0]);
      const double multiply_adds = static_cast<double>(p.sizes.numel()) * positions;  // a weight is used once each
      if (size.forward == 0) size.first_layer = multiply_adds;
      size.forward += multiply_adds;
    }
  return size;
}

// The cost of a training step: forward pass, gradients of parameters and of inputs (except those of the first layer),
// update. Every parameter and every number that the optimizer stores for it is read and written once; gradients never
// leave the cache.
template <class Net>
Cost cost_of_training(const Net& net, double batch, double optimizer_numbers) {
  const NetworkSize size = measure_network(net);
  const double inputs = batch * static_cast<double>(net.input().numel());
  return {2 * batch * (3 * size.forward - size.first_layer),
          4 * (inputs + 2 * (1 + optimizer_numbers) * size.parameters)};
}

// The cost of a forward pass; every parameter is read once.
template <class Net>
Cost cost_of_inference(const Net& net, double batch) {
  const NetworkSize size = measure_network(net);
  const double ends = static_cast<double>(net.input().numel() + net.output().numel());
  return {2 * batch * size.forward, 4 * (batch * ends + size.parameters)};
}

// The cost of C = A B with n rows and columns each.
inline Cost cost_of_product(double n) {
  return {2 * n * n * n, 3 * 4 * n * n};
}

}  // namespace bench
