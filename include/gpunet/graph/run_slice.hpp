// The forward and backward pass of a network for one slice.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/graph/plan.hpp>
#include <gpunet/ops/add.hpp>
#include <gpunet/ops/convert.hpp>
#include <gpunet/ops/interleave.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet {

// The memory of a slice in a pass. The first four arrays last until the end of its backward pass;
// the others belong to the thread that processes it.
template <class T>
struct SliceMemory {
  T* input;  // [samples * input features]
  // Of all nodes, as Plan says; values stored in 16 bits take half of the room.
  T* outputs;
  std::byte* cache;    // of all nodes
  T* output_gradient;  // of the network
  T* gradients;        // of the values between nodes, as Plan says
  T* scratch;
  // Where the arrays of a node are floats while it runs, as Plan::wide_elements says.
  T* wide = nullptr;
};

// The state of a network in a pass, beside its parameters.
template <class T>
struct LayerState {
  T* buffers;
  nn::Mode mode;
  RandomState random;
  const T* constants = nullptr;  // on the device, see constants_on
  BatchRanks* ranks = nullptr;   // see OpPass
};

// A value that the passes copy for a reader outside, [batch, features]. The addresses may be null.
template <class T>
struct WatchedValue {
  int value;  // an index into Plan::values
  T *data, *gradient;
};

// An observer of the arrays of each node after it has run, in the element type of the network also
// with a storage of 16 bits.
template <class T>
class NodeProbe {
 public:
  virtual void see_output(const PlannedNode& node, const T* y) = 0;
  // After the backward pass of a node: the gradients by its inputs, null where none was computed,
  // and all gradients of parameters.
  virtual void see_gradients(const PlannedNode& node, std::span<T* const> input_gradients,
                             const T* gradients) = 0;

 protected:
  ~NodeProbe() = default;
};

// Runs the nodes of a graph, one after another, on a slice. With a storage of 16 bits, each node
// gets float copies of its inputs and parameters, and writes floats that are then rounded.
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
  std::span<const WatchedValue<T>> watched = {};
  const Conversions<D, T>* conversions = nullptr;  // of the plan's storage
  // The parameters as they are stored in 16 bits, with the same offsets, instead of `parameters`.
  const std::uint16_t* narrow_parameters = nullptr;
  NodeProbe<T>* probe = nullptr;

  // Runs all nodes; returns the network's output.
  const T* forward() const;

  // After forward(): computes the gradients of the parameters from that of the output in
  // memory.output_gradient. Returns the gradient of the input; null if the plan has none.
  const T* backward(T* gradients, Accumulate accumulate) const;

 private:
  // The rest of memory.wide.
  struct Wide {
    T* next;
    T* take(index_t elements) { return std::exchange(next, next + elements); }
  };
  T* take_value(Wide& wide, int i) const { return wide.take(padded_features(i) * slice.samples()); }
  index_t elements(int i) const { return value(i).features * slice.samples(); }

  // Returns a value as floats: where it is, or a copy.
  const T* read(int i, Wide& wide) const {
    if (!value(i).is_narrow) return data(i);
    T* const copy = take_value(wide, i);
    conversions->widen(device, elements(i), data(i), copy);
    return copy;
  }
  // Returns where a node writes a value, or its gradient, as floats.
  T* destination(int i, Wide& wide) const {
    return value(i).is_narrow ? take_value(wide, i) : const_cast<T*>(data(i));
  }
  T* gradient_destination(int i, Wide& wide) const {
    return value(i).has_narrow_gradient ? take_value(wide, i) : gradient(i);
  }
  // Returns the gradient of a value as floats, rounded if the value is.
  T* read_gradient(int i, Wide& wide) const {
    T* const stored = gradient(i);
    if (!value(i).is_narrow) return stored;
    T* const copy = gradient_destination(i, wide);
    if (copy == stored)
      conversions->round(device, elements(i), stored, stored);
    else
      conversions->widen(device, elements(i), stored, copy);
    return copy;
  }
  // Copies the parameters of a node to `to`, as they are stored in 16 bits.
  void widen_parameters(const Node& node, T* to) const {
    const auto first = static_cast<std::size_t>(node.first_parameter);
    for (std::size_t p = first, end = first + static_cast<std::size_t>(node.parameters); p < end;) {
      const std::size_t begin = p;
      index_t size = 0;
      do  // neighbors in the arena are converted together
        size += round_up(graph.parameters[p++].sizes.numel(), parameter_alignment);
      while (p < end && graph.parameter_offsets[p] == graph.parameter_offsets[begin] + size);
      const index_t offset = graph.parameter_offsets[begin];
      T* const here = to + plan.wide_offsets[begin];
      if (narrow_parameters)
        conversions->widen(device, size, narrow_parameters + offset, here);
      else
        conversions->round(device, size, parameters + offset, here);
    }
  }

  // Copies the numbers of a value, in the slice's order, to the rows of its samples.
  void copy_rows(int i, const T* from, T* rows) const {
    deinterleave(device, slice, value(i).features, from, rows + first_sample * value(i).features);
  }
  Wide first_wide() const { return {memory.wide + plan.wide_parameters}; }
  const PlannedValue& value(int i) const { return plan.values[static_cast<std::size_t>(i)]; }
  index_t padded_features(int i) const { return round_up(value(i).features, sample_alignment); }
  const T* data(int i) const {
    return value(i).offset < 0 ? x : memory.outputs + value(i).offset * slice.samples();
  }
  T* gradient(int i) const {
    return i == plan.output ? memory.output_gradient
                            : memory.gradients + value(i).gradient * slice.samples();
  }
  const Node& node_of(const PlannedNode& planned) const {
    return graph.nodes[static_cast<std::size_t>(planned.node)];
  }
  static const Kernels<D, T>& kernels_of(const Node& node) {
    return *static_cast<const Kernels<D, T>*>(node.kernels);
  }

  // The arguments of both passes, `pass`, for a node. They are set in place, because copies would
  // cost small networks time.
  template <class Pass>
  void begin(Pass& pass) const {
    pass.slice = slice;
    pass.first_sample = first_sample;
    pass.mode = state.mode;
    pass.ranks = state.ranks;
    pass.scratch = memory.scratch;
  }
  template <class Pass>
  void set(Pass& pass, const PlannedNode& planned, std::array<const T*, most_inputs>& inputs,
           Wide& wide) const {
    const Node& node = node_of(planned);
    pass.in_features = value(planned.inputs[0].value).features;
    pass.out_features = value(planned.output).features;
    // Random numbers depend on the value's number, which fusing does not change.
    if (plan.uses_random)
      pass.random = OpRandom(state.random, node.output, slice, first_sample, pass.out_features);
    for (std::size_t i = 0; i < planned.inputs.size(); ++i)
      inputs[i] = read(planned.inputs[i].value, wide);
    pass.x = inputs[0];
    pass.inputs = {inputs.data(), planned.inputs.size()};
    if (conversions) {
      widen_parameters(node, memory.wide);
      pass.parameters = {memory.wide, plan.wide_offsets.data() + node.first_parameter,
                         node.parameters};
    } else {
      pass.parameters = {parameters, graph.parameter_offsets.data() + node.first_parameter,
                         node.parameters};
    }
    pass.buffers = {state.buffers, graph.buffer_offsets.data() + node.first_buffer, node.buffers};
    pass.cache = memory.cache + planned.cache * slice.samples();
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

// Returns the constants of a graph on a device.
template <class T, class D>
Buffer<T, D> constants_on(D& device, const Graph& graph) {
  const std::vector<T> values(graph.constants.begin(), graph.constants.end());
  Buffer<T, D> constants(device, std::ssize(values));
  if (!values.empty()) device.upload(constants.data(), values.data(), constants.bytes());
  return constants;
}

// Returns the number of scratch elements for a slice: the maximum over all nodes.
template <class D, class T>
index_t scratch_elements(const D& device, const Graph& graph, const Plan& plan,
                         const Slice& slice) {
  index_t most = 0;
  for (const PlannedNode& planned : plan.nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(planned.node)];
    most = std::max(
        most,
        static_cast<const Kernels<D, T>*>(node.kernels)->scratch(node.op.data(), device, slice));
  }
  return most;
}

template <class D, class T>
const T* SliceRun<D, T>::forward() const {
  ForwardPass<T> pass{};
  std::array<const T*, most_inputs> inputs;
  begin(pass);
  pass.constants = state.constants;
  for (const PlannedNode& planned : plan.nodes) {
    const Node& node = node_of(planned);
    Wide wide = first_wide();
    set(pass, planned, inputs, wide);
    pass.y = destination(planned.output, wide);
    kernels_of(node).forward(node.op.data(), device, pass);
    if (probe) {
      if (value(planned.output).is_narrow)  // as the next node reads it
        conversions->round(device, elements(planned.output), pass.y, pass.y);
      probe->see_output(planned, pass.y);
    }
    if (value(planned.output).is_narrow)
      conversions->narrow(device, elements(planned.output), pass.y,
                          const_cast<T*>(data(planned.output)));
  }
  for (const WatchedValue<T>& one : watched)
    if (Wide wide = first_wide(); one.data) copy_rows(one.value, read(one.value, wide), one.data);
  return data(plan.output);
}

template <class D, class T>
const T* SliceRun<D, T>::backward(T* gradients, Accumulate accumulate) const {
  BackwardPass<T> pass{};
  std::array<const T*, most_inputs> inputs;
  std::array<T*, most_inputs> dx;
  begin(pass);
  for (auto planned = plan.nodes.rbegin(); planned != plan.nodes.rend(); ++planned) {
    if (!planned->has_backward) continue;
    const Node& node = node_of(*planned);
    Wide wide = first_wide();
    set(pass, *planned, inputs, wide);
    T* waiting = memory.gradients + planned->adding * slice.samples();
    for (std::size_t i = 0; i < planned->inputs.size(); ++i) {
      const PlannedInput& input = planned->inputs[i];
      dx[i] = !input.wants_gradient ? nullptr
              : input.adds_gradient ? waiting
                                    : gradient_destination(input.value, wide);
      if (input.adds_gradient) waiting += padded_features(input.value) * slice.samples();
    }
    pass.accumulate = planned->adds_to_parameters ? Accumulate::yes : accumulate;
    pass.y = read(planned->output, wide);
    pass.dy = read_gradient(planned->output, wide);
    for (const WatchedValue<T>& one : watched)
      if (one.gradient && one.value == planned->output) copy_rows(one.value, pass.dy, one.gradient);
    pass.dx = dx[0];
    pass.input_gradients = {dx.data(), planned->inputs.size()};
    pass.gradients = {gradients, plan.gradient_offsets.data() + node.first_parameter,
                      node.parameters};
    pass.skips_parameters = planned->skips_parameters;
    pass.rectify_dx = planned->rectifies_dx;
    pass.dy_is_rectified = planned->dy_is_rectified;
    pass.relu_bits = relu_bits(*planned);
    kernels_of(node).backward(node.op.data(), device, pass);
    if (probe) probe->see_gradients(*planned, pass.input_gradients, gradients);
    for (std::size_t i = 0; i < planned->inputs.size(); ++i)
      if (const PlannedInput& input = planned->inputs[i]; input.adds_gradient) {
        T* sum = gradient(input.value);
        const T* more = dx[i];
        map(device, elements(input.value), Add{}, static_cast<const T*>(sum), more, sum);
      } else if (input.wants_gradient && value(input.value).has_narrow_gradient) {
        conversions->narrow(device, elements(input.value), dx[i], gradient(input.value));
      }
  }
  return plan.values[0].gradient < 0 ? nullptr : gradient(0);
}

}  // namespace gpunet
