// The forward and backward pass of a network for one slice.
#pragma once

#include <algorithm>
#include <array>

#include <gpunet/core/math.hpp>
#include <gpunet/graph/plan.hpp>
#include <gpunet/ops/add.hpp>

namespace gpunet {

// The memory of a slice in a pass. The first four arrays last until the end of its backward pass; the others belong to the
// thread that processes it.
template <class T>
struct SliceMemory {
  T* input;            // [samples * input features]
  T* outputs;          // of all nodes, as Plan says
  std::byte* cache;    // of all nodes
  T* output_gradient;  // of the network
  T* gradients;        // of the values between nodes, as Plan says
  T* scratch;
};

// The state of a network in a pass, beside its parameters.
template <class T>
struct LayerState {
  T* buffers;
  nn::Mode mode;
  RandomState random;
};

// Runs the nodes of a graph, one after another, on a slice.
template <class D, class T>
struct SliceRun {
  D& device;
  const Graph& graph;
  const Plan& plan;
  Slice slice;
  index_t first_sample;  // the place of the slice's first sample in the batch
  const T* x;            // the input, in the slice's order
  const T* parameters;
  LayerState<T> state;
  SliceMemory<T> memory;

  // Runs all nodes; returns the network's output.
  const T* forward() const;

  // After forward(): computes the gradients of the parameters from that of the output in memory.output_gradient. Returns the
  // gradient of the input; null if the plan has none.
  const T* backward(T* gradients, Accumulate accumulate) const;

 private:
  static constexpr std::size_t most_inputs = Node::most_inputs;

  const PlannedValue& value(int i) const { return plan.values[static_cast<std::size_t>(i)]; }
  index_t padded_features(int i) const { return round_up(value(i).features, sample_alignment); }
  const T* data(int i) const {
    return value(i).offset < 0 ? x : memory.outputs + value(i).offset * slice.samples();
  }
  T* gradient(int i) const {
    return i == plan.output ? memory.output_gradient : memory.gradients + value(i).gradient * slice.samples();
  }
  const Node& node_of(const PlannedNode& planned) const {
    return graph.nodes[static_cast<std::size_t>(planned.node)];
  }
  static const Kernels<D, T>& kernels_of(const Node& node) {
    return *static_cast<const Kernels<D, T>*>(node.kernels);
  }

  OpPass pass(const PlannedNode& planned) const {
    const index_t features = value(planned.output).features;
    // Random numbers depend on the value's number, which fusing does not change.
    const OpRandom random(state.random, node_of(planned).output, slice, first_sample, features);
    return {slice, first_sample, value(planned.inputs[0]).features, features, state.mode, random};
  }
  void collect(const std::vector<int>& from, std::array<const T*, most_inputs>& inputs) const {
    for (std::size_t i = 0; i < from.size(); ++i)
      inputs[i] = data(from[i]);
  }
  template <class U>
  ArraySlices<U> parameters_of(const Node& node, U* arena) const {
    return {arena, graph.parameter_offsets.data() + node.first_parameter, node.parameters};
  }
  ArraySlices<T> buffers_of(const Node& node) const {
    return {state.buffers, graph.buffer_offsets.data() + node.first_buffer, node.buffers};
  }
  // Returns the ReLU bits of the node below; null if it stored none.
  const std::byte* relu_bits(const PlannedNode& planned) const {
    if (planned.relu_bits_of < 0) return nullptr;
    const PlannedNode& below = plan.nodes[static_cast<std::size_t>(planned.relu_bits_of)];
    const Node& node = node_of(below);
    return kernels_of(node).leaves_relu_bits(node.op.data(), device, slice)
               ? memory.cache + below.cache * slice.samples()
               : nullptr;
  }
};

// Returns the number of scratch elements for a slice: the maximum over all nodes.
template <class D, class T>
index_t scratch_elements(const D& device, const Graph& graph, const Plan& plan, const Slice& slice) {
  index_t most = 0;
  for (const PlannedNode& planned : plan.nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(planned.node)];
    most = std::max(most, static_cast<const Kernels<D, T>*>(node.kernels)->scratch(node.op.data(), device, slice));
  }
  return most;
}

template <class D, class T>
const T* SliceRun<D, T>::forward() const {
  for (const PlannedNode& planned : plan.nodes) {
    const Node& node = node_of(planned);
    std::array<const T*, most_inputs> inputs;
    collect(planned.inputs, inputs);
    kernels_of(node).forward(node.op.data(), device,
                             {pass(planned),
                              inputs[0],
                              const_cast<T*>(data(planned.output)),
                              parameters_of(node, parameters),
                              buffers_of(node),
                              memory.cache + planned.cache * slice.samples(),
                              memory.scratch,
                              {inputs.data(), planned.inputs.size()}});
  }
  return data(plan.output);
}

template <class D, class T>
const T* SliceRun<D, T>::backward(T* gradients, Accumulate accumulate) const {
  for (auto planned = plan.nodes.rbegin(); planned != plan.nodes.rend(); ++planned) {
    if (!planned->has_backward) continue;
    const Node& node = node_of(*planned);
    std::array<const T*, most_inputs> inputs;
    std::array<T*, most_inputs> dx;
    collect(planned->inputs, inputs);
    T* waiting = memory.gradients + planned->adding * slice.samples();
    for (std::size_t i = 0; i < planned->inputs.size(); ++i) {
      dx[i] = !planned->wants_gradient[i] ? nullptr
              : planned->adds_gradient[i] ? waiting
                                          : gradient(planned->inputs[i]);
      if (planned->adds_gradient[i]) waiting += padded_features(planned->inputs[i]) * slice.samples();
    }
    kernels_of(node).backward(node.op.data(), device,
                              {pass(*planned),
                               inputs[0],
                               data(planned->output),
                               gradient(planned->output),
                               dx[0],
                               parameters_of(node, parameters),
                               parameters_of(node, gradients),
                               buffers_of(node),
                               accumulate,
                               planned->rectifies_dx,
                               planned->dy_is_rectified,
                               memory.cache + planned->cache * slice.samples(),
                               relu_bits(*planned),
                               memory.scratch,
                               {inputs.data(), planned->inputs.size()},
                               {dx.data(), planned->inputs.size()}});
    for (std::size_t i = 0; i < planned->inputs.size(); ++i)
      if (planned->adds_gradient[i]) {
        T* sum = gradient(planned->inputs[i]);
        const T* more = dx[i];
        map(device, value(planned->inputs[i]).features * slice.samples(), Add{}, static_cast<const T*>(sum), more,
            sum);
      }
  }
  return plan.values[0].gradient < 0 ? nullptr : gradient(0);
}

}  // namespace gpunet
