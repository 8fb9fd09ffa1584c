// Where everything of a graph lies while it runs.
#pragma once

#include <vector>

#include <gpunet/graph/graph.hpp>

namespace gpunet {

// Every array of a workspace begins on a multiple of this many elements (bytes for the caches), and so on a cache line.
inline constexpr index_t arena_alignment = 64;
// What one sample takes of an activation is a multiple of this many elements, what it takes of a cache one of this many bytes.
inline constexpr index_t sample_alignment = 4, cache_alignment = 16;

// What is wanted of the gradient of a network's input.
enum class InputGradient { skip, compute };

// A value: a view shares the memory of what it views.
struct PlannedValue {
  index_t offset = -1;    // of its data in the outputs of a slice, per sample; -1: the network's input
  index_t gradient = -1;  // of its gradient in the gradients of a worker, per sample; -1: there is none
  index_t features = 0;
  int maker = -1;  // the node that makes it, an index into Plan::nodes; -1: the network's input
};

// A node that runs.
struct PlannedNode {
  int node = -1;      // an index into Graph::nodes
  index_t cache = 0;  // where its cache begins in that of a slice, per sample
  index_t adding =
      -1;           // where gradients of inputs that have other readers wait to be added, per sample; -1: nowhere
  int output = -1;  // an index into Plan::values, as all that follow
  std::vector<int> inputs;
  std::vector<bool> wants_gradient;  // of each input
  std::vector<bool> adds_gradient;   // and a later reader has left one already
  bool has_backward = false;         // whether it has to run backward
  bool rectifies_dx = false;         // see BackwardPass
  bool dy_is_rectified = false;
  int relu_bits_of = -1;  // the node below that may leave bits of its ReLU, an index into Plan::nodes
};

// Offsets are per sample: they are multiplied by the number of samples of a slice.
struct Plan {
  std::vector<PlannedValue> values;
  std::vector<PlannedNode> nodes;  // without views, in the order in which they run
  int output = 0;                  // of the network, an index into `values`; that of its input is 0
  index_t output_elements = 0, cache_bytes = 0, gradient_elements = 0;
  index_t input_features = 0, output_features = 0;
  bool couples_samples = false, uses_random = false;  // of any node
  index_t most_samples = 0;                           // of a batch, so that all sizes of a pass are numbers

  // For a device that has gradients rectified where they are made, or not.
  Plan(const Graph& graph, bool rectifies_gradients, InputGradient input_gradient);
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/graph/plan.ipp>
#endif
