// The parameters and buffers of a network, which other networks may share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gpunet/graph/graph.hpp>
#include <gpunet/model/model_use.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet {

// The arrays that networks share, the number of their updates, and their users.
template <class D, class T>
struct Arena {
  // Each array at the offset in its ParameterInfo or BufferInfo.
  Buffer<T, D> parameters, buffers;
  // Instead of `parameters`, with their offsets: see Predictor.
  Buffer<std::uint16_t, D> narrow_parameters;
  std::uint64_t updates = 0;
  ModelUse use = {};

  std::size_t parameter_bytes() const { return parameters.bytes() + narrow_parameters.bytes(); }
};

namespace detail {

// Returns the parameter or buffer of a name; null if there is none. It probably has the number
// `likely`.
template <class Info>
const Info* named(const std::vector<Info>& all, const std::string& name, std::size_t likely = 0) {
  if (likely < all.size() && all[likely].name == name) return &all[likely];
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Info& info) { return info.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// Returns a graph whose parameters and buffers have the places of the same names in the arena of
// another. Throws Error for a name that the other does not have, or has with other sizes.
Graph with_arrays_of(const Graph& other, Graph graph);

// The same arrays in the arenas of two networks.
struct CommonRange {
  index_t here, there, size;  // first elements, and their number
};
struct CommonRanges {
  std::vector<CommonRange> parameters, buffers;
};
// Returns them, with neighbors merged. Throws Error unless both networks have the same names and
// sizes; `where` is the caller's name.
CommonRanges common_ranges(const char* where, const Graph& here, const Graph& there);

}  // namespace detail

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/arena.ipp>
#endif
