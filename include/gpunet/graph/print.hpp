// Graphs in words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <gpunet/graph/graph.hpp>

namespace gpunet {

namespace detail {

// A layer or a block as it stands in the tree that dotted names describe.
struct Module {
  std::string name;         // the last part of the path
  std::size_t depth;        // 0 in the network itself
  std::size_t first, last;  // of its layers, indices into the list
  bool is_block;
};

// The tree, in the order in which it is printed, of the paths of all layers.
std::vector<Module> modules_of(const std::vector<std::string>& paths);

}  // namespace detail

// The network as print(net) shows it in PyTorch: its layers with their names or positions, sizes and options.
std::string to_string(const Graph& graph);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/graph/print.ipp>
#endif
