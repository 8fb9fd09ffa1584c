// A network as a list of nodes. Layers are lowered to it; models, optimizers and files see nothing
// else of a network.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// The distribution of the initial values of a parameter.
struct Initial {
  // One value a, which draws nothing; uniform in [a, b); normal with mean a and standard deviation
  // b.
  enum class Kind { constant, uniform, normal };
  Kind kind;
  double a, b = 0;        // see Kind
  index_t zero_row = -1;  // an index of the first dimension whose values are 0 in the end; -1: none
  // Uniform numbers that are drawn before, and not used, as PyTorch does for values that it
  // replaces.
  index_t unused = 0;
  int drawn_after = 0;  // values are drawn after the next so many parameters
  int copied_from = 0;  // values are a copy of the parameter so many before; 0: its own
};

// A parameter tensor of a layer.
struct ParameterSpec {
  std::string_view name;
  Sizes sizes;
  Initial initial;
};

// The contents of a buffer: elements of the model's type, or one index_t that counts.
enum class BufferKind { numbers, count };

// An array that a layer stores from pass to pass and no optimizer changes, as a buffer of
// torch.nn.Module.
struct BufferSpec {
  std::string_view name;
  Sizes sizes;
  double initial;
  BufferKind kind = BufferKind::numbers;
  bool persistent = true;  // whether it belongs to the state dict
};

// Parameters begin at multiples of this number of elements: a cache line of floats.
inline constexpr index_t parameter_alignment = 16;

// One parameter tensor of a network.
struct ParameterInfo {
  std::string name;  // as PyTorch's state_dict has it: "conv1.weight"
  Sizes sizes;
  index_t offset;  // in elements, from the start of the parameter arena
  Initial initial;
  // Whether a backward pass computes its gradient, and optimizers update it.
  bool requires_grad = true;

  // Returns where it ends with the gap behind it: neighbors in the arena have no elements between
  // them.
  index_t end() const { return offset + round_up(sizes.numel(), parameter_alignment); }
};

// One buffer of a network.
struct BufferInfo {
  std::string name;  // as PyTorch's state_dict has it: "norm1.running_mean"
  Sizes sizes;
  index_t offset;  // in elements, from the start of the arena of buffers
  double initial;
  BufferKind kind;
  bool persistent;  // whether it belongs to the state dict
};

// The number of a value in Graph::values: an array that one node computes and any number of nodes
// read.
using value_t = int;

// An op with its place in the graph.
struct Node {
  static constexpr std::size_t most_bytes = 192;

  std::string name;   // of the layer, "features.0"
  const char* layer;  // the signature of the layer's type, see detail::class_of
  const OpType* type;
  // Kernels of the device and element type of the graph; null where it only is looked at.
  const void* kernels;
  alignas(16) std::array<std::byte, most_bytes> op;
  std::vector<value_t> inputs;
  value_t output;
  int first_parameter, parameters;  // the first in Graph::parameters, and their number
  int first_buffer, buffers;
  bool shares_parameters = false;  // with a node before it: see GraphBuilder::enter_shared
  bool has_second_part = false;    // of them, see GraphBuilder::use_second_part
  // Joins or takes apart values that lie one after another in one: it is not printed.
  bool is_packing = false;
  // Pads the input of the node behind it, which is printed for both.
  bool is_padding = false;

  // An op for the work of this node and the one before it, if that one is of type `after`.
  struct Merged {
    const OpType* after = nullptr;  // null: no such op
    const OpType* type = nullptr;
    const void* kernels = nullptr;
    std::vector<std::byte> op = {};
  };
  Merged merged = {};
  std::vector<const char*> fused = {};  // signatures of the layers that are fused into this node

  // Returns the op; null if it has another type.
  template <class Op>
  Op* as() {
    return type == &op_type<Op> ? reinterpret_cast<Op*>(op.data()) : nullptr;
  }
  template <class Op>
  const Op* as() const {
    return const_cast<Node*>(this)->as<Op>();
  }
};

// A part of a network that has layers in it, and is no Sequential: its name, "layer1.0", and the
// signature of its type.
struct BlockInfo {
  std::string name;
  const char* layer;
};

// The nodes of a network, in an order in which they can run. Value 0 is the input. Sizes are those
// of one sample.
struct Graph {
  std::vector<Sizes> values;
  std::vector<Node> nodes;
  value_t output = 0;
  // Values that are read between the layers: they exist when the graph is fused.
  std::vector<value_t> watched = {};
  // Of a network with several inputs or outputs: their sizes. Value 0 is all inputs one after
  // another, `output` all outputs.
  std::vector<Sizes> inputs, outputs;
  std::vector<BlockInfo> blocks;
  std::vector<ParameterInfo> parameters;
  std::vector<index_t> parameter_offsets;  // of `parameters`, for kernels
  index_t parameter_elements = 0;          // of their arena, with gaps for alignment
  std::vector<BufferInfo> buffers;         // the same for buffers
  std::vector<index_t> buffer_offsets;
  index_t buffer_elements = 0;
  std::vector<double> constants;  // the numbers of all ConstantOp, which know where theirs begin

  // Not defined here: every unit with a network would compile them.
  Graph();
  Graph(const Graph&);
  Graph(Graph&&) noexcept;
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  const Sizes& input_of(const Node& node) const {
    return values[static_cast<std::size_t>(node.inputs[0])];
  }
  const Sizes& output_of(const Node& node) const {
    return values[static_cast<std::size_t>(node.output)];
  }
  // Returns the traits of a node's op for its sizes.
  OpTraits traits(const Node& node) const {
    return node.type->traits(node.op.data(), input_of(node), output_of(node));
  }
  // Returns the parameters of a node.
  std::span<const ParameterInfo> parameters_of(const Node& node) const {
    return std::span(parameters)
        .subspan(static_cast<std::size_t>(node.first_parameter),
                 static_cast<std::size_t>(node.parameters));
  }
  // Returns the buffers of a node.
  std::span<const BufferInfo> buffers_of(const Node& node) const {
    return std::span(buffers).subspan(static_cast<std::size_t>(node.first_buffer),
                                      static_cast<std::size_t>(node.buffers));
  }
  // Returns the number of readers of each value; the network's output counts one more, and so does
  // one that is watched.
  std::vector<int> readers() const;
};

// Builds a graph node by node.
class GraphBuilder {
 public:
  // `sizes` are the sizes of one input sample.
  explicit GraphBuilder(const Sizes& sizes);
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;
  ~GraphBuilder();

  static constexpr value_t input = 0;

  // Until leave(), names of nodes begin with this name or number and a dot.
  void enter(std::string_view name);
  void enter(index_t number);
  void leave() { path_.resize(starts_.back()), starts_.pop_back(); }

  // Until leave_shared(), names of nodes begin with `name` alone, and layers lowered under a name
  // that such a part has used before have the same parameters.
  void enter_shared(std::string_view name);
  void leave_shared();

  // Until the next call, nodes belong to a layer of this type (a signature for detail::class_of).
  void set_layer(const char* signature) { layer_ = signature; }

  // The layers inside of the path so far make a block of the type that set_layer() named.
  void set_block() { graph_.blocks.push_back({path_, layer_}); }

  // Appends parameters of the last node, whose names begin with the path so far.
  void add_parameters(std::span<const ParameterSpec> parameters);

  // Marks the nodes from `first` on, which only join values in one or take them apart, see
  // Node::is_packing.
  void set_packing(std::size_t first);

  // Marks the last node, see Node::is_padding.
  void set_padding() { graph_.nodes.back().is_padding = true; }

  // Lets the last node use another part of the parameters of the node before it, whose gradient it
  // stores.
  void use_second_part();

  // Return the number of nodes and parameters so far.
  std::size_t nodes() const { return graph_.nodes.size(); }
  std::size_t parameters() const { return graph_.parameters.size(); }

  // Puts the parameters of the nodes from `first` on in the order of their layers in PyTorch, whose
  // names behind the path are `layers`; that of the nodes is the one in which they run.
  void order_parameters(std::size_t first, std::span<const std::string_view> layers);

  // Stores the numbers of a constant. Returns the place of the first in Graph::constants.
  index_t add_constants(std::span<const double> values);

  // Copies the initial values of the last `count` parameters from the `count` parameters before
  // them.
  void copy_initial_values(std::size_t count);

  // Returns the type of the last node's op.
  const OpType* last_type() const { return graph_.nodes.back().type; }

  // Returns the sizes of a value so far.
  const Sizes& sizes(value_t value) const { return graph_.values[static_cast<std::size_t>(value)]; }

  // Several inputs, or outputs, are one after another in one value.
  void set_inputs(std::span<const Sizes> sizes) {
    graph_.inputs.assign(sizes.begin(), sizes.end());
  }
  void set_outputs(std::span<const Sizes> sizes) {
    graph_.outputs.assign(sizes.begin(), sizes.end());
  }

  // Returns the graph, with `output` as the network's output.
  Graph finish(value_t output) &&;

 protected:
  // Appends a node with its parameters and buffers; returns the value that it computes.
  template <class Op>
  value_t add_op(const Op& op, const void* kernels, std::span<const value_t> inputs,
                 const Sizes& output, std::span<const ParameterSpec> parameters,
                 std::span<const BufferSpec> buffers) {
    static_assert(
        std::is_trivially_copyable_v<Op>,
        "gpunet::nn: a layer or op (Op = ... in this output) is not trivially copyable (the graph "
        "copies its bytes), keep numbers in it, and arrays in parameters and buffers");
    static_assert(sizeof(Op) <= Node::most_bytes,
                  "gpunet::nn: a layer or op (Op = ... in this output) has more than 192 bytes "
                  "(every node has room for so many), keep arrays in parameters and buffers");
    static_assert(alignof(Op) <= 16,
                  "gpunet::nn: a layer or op (Op = ... in this output) is aligned to more than 16 "
                  "bytes (which a node is not), leave out alignas");
    const value_t y = add_node(&op_type<Op>, kernels, &op, inputs, output);
    if (!parameters.empty()) add_parameters(parameters);
    if (!buffers.empty()) add_buffers(buffers);
    return y;
  }
  value_t add_node(const OpType* type, const void* kernels, const void* op,
                   std::span<const value_t> inputs, const Sizes& output);
  // Of the last node.
  void add_buffers(std::span<const BufferSpec> buffers);
  void set_merged(const OpType* after, const OpType* type, const void* kernels, const void* op);

 private:
  // The path outside a shared part.
  struct Outside {
    std::string path;
    std::vector<std::size_t> starts;
  };
  // Returns the name of a parameter or buffer of the open part; an empty one is the part itself.
  std::string key_of(std::string_view name) const;
  // Lets the last node use the parameters that an earlier one of these names has; returns whether
  // there is one.
  bool share_parameters(std::span<const ParameterSpec> parameters);

  std::string path_;
  const char* layer_ = "";
  std::vector<std::size_t> starts_;  // of the parts of the path that are open
  std::vector<Outside> shared_;      // of the shared parts that are open
  std::vector<bool> is_shared_;      // of Graph::parameters: whether they belong to a shared part
  Graph graph_;
};

// Builds a graph with the kernels of device D for elements of type T; <void, void>: a graph to
// print that cannot run.
template <class D, class T>
class Lowering : public GraphBuilder {
 public:
  using device_type = D;
  using value_type = T;
  using GraphBuilder::GraphBuilder;

  // Appends a node that computes a value of sizes `output` from `x`; returns that value. K has the
  // op's kernels.
  template <class Op, class K = detail::OwnKernels<Op>>
  value_t add(const Op& op, value_t x, const Sizes& output,
              std::span<const ParameterSpec> parameters = {},
              std::span<const BufferSpec> buffers = {}) {
    return add<Op, K>(op, std::span(&x, 1), output, parameters, buffers);
  }
  // The same with several inputs.
  template <class Op, class K = detail::OwnKernels<Op>>
  value_t add(const Op& op, std::span<const value_t> inputs, const Sizes& output,
              std::span<const ParameterSpec> parameters = {},
              std::span<const BufferSpec> buffers = {}) {
    const void* kernels = nullptr;
    if constexpr (!std::is_void_v<D>) kernels = kernels_of<K, D, T>();
    return add_op(op, kernels, inputs, output, parameters, buffers);
  }

  // Sets Node::merged of the last node.
  template <class Op>
  void offer_merged(const OpType* after, const Op& op) {
    set_merged(after, &op_type<Op>, kernels_of<detail::OwnKernels<Op>, D, T>(), &op);
  }
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/graph/graph.ipp>
#endif
