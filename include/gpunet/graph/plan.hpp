// The memory plan of a graph: the offsets of values, which all last until the next pass because a
// backward pass may read them, and of gradients, which share memory where their lifetimes do not
// overlap.
#pragma once

#include <vector>

#include <gpunet/graph/graph.hpp>
#include <gpunet/ops/convert.hpp>

namespace gpunet {

// Arrays of a workspace begin at multiples of this number of elements (bytes for caches), and so at
// a cache line.
inline constexpr index_t arena_alignment = 64;
// The size of one sample in an activation, in elements, and in a cache, in bytes, is a multiple of
// these.
inline constexpr index_t sample_alignment = 4, cache_alignment = 16;

// Whether the gradient of a network's input is computed.
enum class InputGradient { skip, compute };

// The place of a value. A view has that of its input.
struct PlannedValue {
  index_t offset = -1;    // of its data in a slice's outputs, per sample; -1: the network's input
  index_t gradient = -1;  // of its gradient in a worker's gradients, per sample; -1: it has none
  index_t features = 0;
  // The node that computes it, an index into Plan::nodes; -1: the network's input.
  int maker = -1;
  bool is_narrow = false;  // its data are stored in 16 bits
  // So is its gradient, if one node reads the value; a sum over several readers is rounded in
  // place.
  bool has_narrow_gradient = false;
};

// An input of a node that runs.
struct PlannedInput {
  int value = -1;               // an index into Plan::values
  bool wants_gradient = false;  // whether the node computes its gradient
  // Whether a later reader has stored one already, to which that is added.
  bool adds_gradient = false;
};

// A node that runs.
struct PlannedNode {
  int node = -1;      // an index into Graph::nodes
  index_t cache = 0;  // offset of its cache in that of a slice, per sample
  // Offset of gradients to be added to other readers', per sample; -1: none.
  index_t adding = -1;
  int output = -1;  // an index into Plan::values
  std::vector<PlannedInput> inputs;
  // Whether it runs in the backward pass: something below it wants a gradient.
  bool has_backward = false;
  bool adds_to_parameters = false;  // a node that shares them has stored their gradients before
  bool skips_parameters = false;    // none of its parameters requires a gradient
  bool rectifies_dx = false;        // see BackwardPass
  bool dy_is_rectified = false;
  // The node below that may leave bits of its ReLU, an index into Plan::nodes.
  int relu_bits_of = -1;
};

// A part of the arenas of parameters and gradients.
struct ArenaRange {
  index_t begin, end;  // in elements
  index_t size() const { return end - begin; }
  bool operator==(const ArenaRange&) const = default;
};

// Appends the range of a parameter, or extends the last range by it if the two are neighbors.
void append(std::vector<ArenaRange>& ranges, const ParameterInfo& parameter);

// Options of a Plan.
struct PlanOptions {
  index_t element_bytes = sizeof(float);  // of the type that the network computes in
  // With 16 bits, that of the values between nodes and their gradients, as StoredAs says, and of
  // the parameters as kernels read them. The inputs and outputs of the network, gradients of
  // parameters, buffers and caches stay as they are computed.
  Storage storage = Storage::full;
  // No backward pass follows: values share memory where their lifetimes do not overlap, and all
  // caches do.
  bool forward_only = false;
};

// Offsets are per sample: they are multiplied by the number of samples of a slice. They count
// elements of the type that the network computes in, also for values that are stored in 16 bits.
struct Plan {
  std::vector<PlannedValue> values;
  // Of Graph::values, an index into `values`; -1: the output does not depend on it.
  std::vector<int> value_of;
  std::vector<PlannedNode> nodes;  // without views, in the order of the forward pass
  int output = 0;                  // of the network, an index into `values`; its input is 0
  index_t output_elements = 0, cache_bytes = 0, gradient_elements = 0;
  index_t input_features = 0, output_features = 0;
  // Elements of all values that nodes compute, by which a batch is cut into slices.
  index_t activations = 0;
  bool couples_samples = false, uses_random = false;  // of any node
  // Of a batch, so that no size in a pass overflows.
  index_t most_samples = 0;
  // Of Graph::parameters: whether a backward pass computes the gradient, and where it is stored.
  // Ops that compute a gradient that is not required, with one that is, store it behind the arena,
  // where `spare_elements` are.
  std::vector<bool> has_gradient;
  std::vector<index_t> gradient_offsets;
  index_t spare_elements = 0;
  Storage storage = Storage::full;
  // With a storage of 16 bits, the room for the arrays that a node works on, as kernels read and
  // write them: its parameters, and behind them, per sample, its values and their gradients. The
  // offsets of the first part are as in Graph::parameters.
  index_t wide_parameters = 0, wide_elements = 0;
  std::vector<index_t> wide_offsets;

  // `rectifies_gradients`: see DeviceTraits.
  Plan(const Graph& graph, bool rectifies_gradients, InputGradient input_gradient,
       const PlanOptions& options = {});

 private:
  void place_values(const std::vector<index_t>& caches, const std::vector<int>& watched,
                    bool forward_only);
  void reserve_wide(const Graph& graph);
};

// Throws Error if a finite number of a constant becomes infinite where it is stored in float16, as
// PyTorch's masked_fill does; `where` is the caller's name. Factors are allowed: a product with a
// large factor may be small.
void require_storable_constants(const Graph& graph, const Plan& plan, const char* where);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/graph/plan.ipp>
#endif
