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
class SliceRun {
 public:
  // `x` is the slice's input in its order; `first_sample` the index of its first sample in the batch.
  SliceRun(D& device, const Graph& graph, const Plan& plan, const Slice& slice, index_t first_sample, const T* x,
           const T* parameters, const LayerState<T>& state, const SliceMemory<T>& memory)
      : device_(device),
        graph_(graph),
        plan_(plan),
        slice_(slice),
        first_sample_(first_sample),
        x_(x),
        parameters_(parameters),
        state_(state),
        memory_(memory) {}

  // Runs all nodes; returns the network's output.
  const T* forward() const;

  // After forward(): computes the gradients of the parameters from that of the output in memory.output_gradient. Returns the
  // gradient of the input; null if the plan has none.
  const T* backward(T* gradients, Accumulate accumulate) const;

 private:
  static constexpr std::size_t most_inputs = Node::most_inputs;

  const PlannedValue& value(int i) const { return plan_.values[static_cast<std::size_t>(i)]; }
  index_t padded_features(int i) const { return round_up(value(i).features, sample_alignment); }
  const T* data(int i) const {
    return value(i).offset < 0 ? x_ : memory_.outputs + value(i).offset * slice_.samples();
  }
  T* gradient(int i) const {
    return i == plan_.output ? memory_.output_gradient : memory_.gradients + value(i).gradient * slice_.samples();
  }
  const Node& node_of(const PlannedNode& planned) const {
    return graph_.nodes[static_cast<std::size_t>(planned.node)];
  }
  static const Kernels<D, T>& kernels_of(const Node& node) {
    return *static_cast<const Kernels<D, T>*>(node.kernels);
  }

  OpPass pass(const PlannedNode& planned) const {
    const index_t features = value(planned.output).features;
    // Random numbers depend on the value's number, which fusing does not change.
    const OpRandom random(state_.random, node_of(planned).output, slice_, first_sample_, features);
    return {slice_, first_sample_, value(planned.inputs[0]).features, features, state_.mode, random};
  }
  void collect(const std::vector<int>& from, std::array<const T*, most_inputs>& inputs) const {
    for (std::size_t i = 0; i < from.size(); ++i)
      inputs[i] = data(from[i]);
  }
  template <class U>
  ArraySlices<U> parameters_of(const Node& node, U* arena) const {
    return {arena, graph_.parameter_offsets.data() + node.first_parameter};
  }
  ArraySlices<T> buffers_of(const Node& node) const {
    return {state_.buffers, graph_.buffer_offsets.data() + node.first_buffer};
  }
  // Returns the ReLU bits of the node below; null if it stored none.
  const std::byte* relu_bits(const PlannedNode& planned) const {
    if (planned.relu_bits_of < 0) return nullptr;
    const PlannedNode& below = plan_.nodes[static_cast<std::size_t>(planned.relu_bits_of)];
    const Node& node = node_of(below);
    return kernels_of(node).leaves_relu_bits(node.op.data(), device_, slice_)
               ? memory_.cache + below.cache * slice_.samples()
               : nullptr;
  }

  D& device_;
  const Graph& graph_;
  const Plan& plan_;
  Slice slice_;
  index_t first_sample_;
  const T* x_;
  const T* parameters_;
  LayerState<T> state_;
  SliceMemory<T> memory_;
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
  for (const PlannedNode& planned : plan_.nodes) {
    const Node& node = node_of(planned);
    std::array<const T*, most_inputs> inputs;
    collect(planned.inputs, inputs);
    kernels_of(node).forward(node.op.data(), device_,
                             {pass(planned),
                              inputs[0],
                              const_cast<T*>(data(planned.output)),
                              parameters_of(node, parameters_),
                              buffers_of(node),
                              memory_.cache + planned.cache * slice_.samples(),
                              memory_.scratch,
                              {inputs.data(), planned.inputs.size()}});
  }
  return data(plan_.output);
}

template <class D, class T>
const T* SliceRun<D, T>::backward(T* gradients, Accumulate accumulate) const {
  for (auto planned = plan_.nodes.rbegin(); planned != plan_.nodes.rend(); ++planned) {
    if (!planned->has_backward) continue;
    const Node& node = node_of(*planned);
    std::array<const T*, most_inputs> inputs;
    std::array<T*, most_inputs> dx;
    collect(planned->inputs, inputs);
    T* waiting = memory_.gradients + planned->adding * slice_.samples();
    for (std::size_t i = 0; i < planned->inputs.size(); ++i) {
      dx[i] = !planned->wants_gradient[i] ? nullptr
              : planned->adds_gradient[i] ? waiting
                                          : gradient(planned->inputs[i]);
      if (planned->adds_gradient[i]) waiting += padded_features(planned->inputs[i]) * slice_.samples();
    }
    kernels_of(node).backward(node.op.data(), device_,
                              {pass(*planned),
                               inputs[0],
                               data(planned->output),
                               gradient(planned->output),
                               dx[0],
                               parameters_of(node, parameters_),
                               parameters_of(node, gradients),
                               buffers_of(node),
                               accumulate,
                               planned->rectifies_dx,
                               planned->dy_is_rectified,
                               memory_.cache + planned->cache * slice_.samples(),
                               relu_bits(*planned),
                               memory_.scratch,
                               {inputs.data(), planned->inputs.size()},
                               {dx.data(), planned->inputs.size()}});
    for (std::size_t i = 0; i < planned->inputs.size(); ++i)
      if (planned->adds_gradient[i]) {
        T* sum = gradient(planned->inputs[i]);
        const T* more = dx[i];
        map(device_, value(planned->inputs[i]).features * slice_.samples(), Add{}, static_cast<const T*>(sum), more,
            sum);
      }
  }
  return plan_.values[0].gradient < 0 ? nullptr : gradient(0);
}

}  // namespace gpunet
