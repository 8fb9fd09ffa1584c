// The parts of a network that an ONNX file contains.
#pragma once

#include <cstddef>
#include <span>

#include <gpunet/graph/graph.hpp>

namespace gpunet::onnx::detail {

// A graph with its parameters and buffers.
struct WrittenNetwork {
  const Graph& graph;
  std::span<const std::byte> parameters, buffers;  // the arenas
  bool is_double;                                  // the type of their elements
};

}  // namespace gpunet::onnx::detail
