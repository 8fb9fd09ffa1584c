// The layers of a network with sizes and counts, and their table, as torchinfo.summary. Also prints
// networks.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <gpunet/graph/to_string.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/nn/repr.hpp>

namespace gpunet {

// Prints the network as PyTorch does.
template <class D, class T>
std::ostream& operator<<(std::ostream& out, const Network<D, T>& network) {
  return out << to_string(network.graph());
}

// One layer of a Summary. Names are torchinfo's.
struct LayerSummary {
  std::string class_name;  // "Conv2d"
  std::string var_name;    // its name in the network, "conv1", or its position, "0"
  // The options that PyTorch prints: "3, 6, kernel_size=(5, 5), stride=(1, 1)".
  std::string extra_repr;
  Sizes input_size, output_size;  // [batch, ...]; the first of several outputs, as of an LSTM
  std::vector<int> inputs;        // the layers that it reads, -1: the input of the network
  index_t num_params = 0;         // elements of its parameters
  index_t mult_adds = 0;          // of the whole batch in the forward pass
  index_t output_bytes = 0;       // of the whole batch; 0 for a view
  index_t param_bytes = 0;
};

// A network, layer by layer, and its totals. Bytes are torchinfo's estimate, which counts the
// outputs of layers with parameters twice (for their gradients) and other outputs not at all;
// workspace_bytes() of a model returns the memory in use.
struct Summary {
  std::vector<LayerSummary> layers;
  std::vector<BlockInfo> blocks;  // around them
  // [batch, ...]; of several inputs or outputs, [batch, all features].
  Sizes input_size, output_size;
  std::vector<Sizes> outputs;  // [batch, ...] of each output
  index_t total_input_bytes = 0, total_params = 0, trainable_params = 0, total_mult_adds = 0;
  index_t total_output_bytes = 0;  // twice the outputs of layers with parameters
  index_t total_param_bytes = 0;

  index_t total_bytes() const { return total_input_bytes + total_output_bytes + total_param_bytes; }
};

// Returns the summary of a graph for elements of `element_bytes` bytes and batches of `batch_size`
// samples. Throws Error if batch_size < 1 or sizes overflow.
Summary summary(const Graph& graph, index_t element_bytes, index_t batch_size);

// The same of a Model, or of a network without a device (elements are float).
template <class D, class T>
Summary summary(const Network<D, T>& network, index_t batch_size = 1) {
  return summary(network.graph(), sizeof(T), batch_size);
}
template <index_t... Ns, class... Layers>
Summary summary(const nn::Sequential<nn::Input<Ns...>, Layers...>& net, index_t batch_size = 1) {
  return summary(nn::lower<void, void>(net), sizeof(float), batch_size);
}

// Returns the table that torchinfo.summary prints with col_names=("output_size", "num_params",
// "mult_adds") and row_settings=("depth", "var_names"), with one more column: the bytes of each
// layer's output and parameters.
std::string to_string(const Summary& summary);

// Prints that table.
std::ostream& operator<<(std::ostream& out, const Summary& summary);

namespace detail {

// Returns "1,234,567".
std::string with_commas(index_t n);

}  // namespace detail

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/summary.ipp>
#endif
