// Graphs as text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <gpunet/graph/graph.hpp>

namespace gpunet {

namespace detail {

// A layer or a block in the tree that dotted names describe.
struct Module {
  std::string name;         // the last part of the path
  std::size_t depth;        // 0 in the network itself
  std::size_t first, last;  // indices of its layers
  std::string block = {};   // its type, "Sequential"; empty: it is a layer
};

// Returns the tree of the paths of all layers, in the order of printing. Blocks that are not in
// `blocks` are Sequential.
std::vector<Module> modules_of(const std::vector<std::string>& paths,
                               const std::vector<BlockInfo>& blocks);

}  // namespace detail

// Returns the text of print(net) in PyTorch: layers with names or positions, sizes and options,
// without the nodes that join several inputs or outputs in one value. Layers that are fused into a
// node follow it: "Linear(...) -> ReLU".
std::string to_string(const Graph& graph);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/graph/to_string.ipp>
#endif
