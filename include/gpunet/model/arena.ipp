// Bodies of arena.hpp.
#pragma once

#include <algorithm>

#include <gpunet/core/error.hpp>
#include <gpunet/core/math.hpp>
#include <gpunet/model/arena.hpp>

namespace gpunet::detail {

template <class Info>
void share_arrays(std::vector<Info>& arrays, std::vector<index_t>& offsets,
                  const std::vector<Info>& of) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Info* shared = named(of, arrays[i].name);
    require(shared, "gpunet::Model: the other network has no ", arrays[i].name,
            " to share, give the parts that are shared the same names");
    require(
        shared->sizes == arrays[i].sizes, "gpunet::Model: ", arrays[i].name, " has shape ",
        to_string(arrays[i].sizes), " here and ", to_string(shared->sizes),
        " in the other network (want the same to share it), use the same layer, or another name");
    offsets[i] = arrays[i].offset = shared->offset;
  }
}

GPUNET_INLINE Graph with_arrays_of(const Graph& other, Graph graph) {
  share_arrays(graph.parameters, graph.parameter_offsets, other.parameters);
  share_arrays(graph.buffers, graph.buffer_offsets, other.buffers);
  graph.parameter_elements = other.parameter_elements;
  graph.buffer_elements = other.buffer_elements;
  return graph;
}

template <class Info>
std::vector<CommonRange> common_ranges(const char* where, const std::vector<Info>& here,
                                       const std::vector<Info>& there) {
  constexpr const char* advice =
      " (want the names and shapes of all to be the same), copy those that both have by "
      "io::load(net, other, {.strict = false})";
  std::vector<CommonRange> ranges;
  for (std::size_t i = 0; i < here.size(); ++i) {
    const Info& mine = here[i];
    const Info* other = named(there, mine.name, i);
    require(other, where, ": the other network has no ", mine.name, advice);
    require(other->sizes == mine.sizes, where, ": ", mine.name, " has shape ",
            to_string(mine.sizes), " here and ", to_string(other->sizes), " in the other network",
            advice);
    const index_t size = round_up(mine.sizes.numel(), parameter_alignment);
    if (!ranges.empty() && ranges.back().here + ranges.back().size == mine.offset &&
        ranges.back().there + ranges.back().size == other->offset)
      ranges.back().size += size;
    else
      ranges.push_back({mine.offset, other->offset, size});
  }
  for (std::size_t i = 0; i < there.size(); ++i)
    require(named(here, there[i].name, i), where, ": the other network has ", there[i].name,
            ", this one has not", advice);
  return ranges;
}

GPUNET_INLINE CommonRanges common_ranges(const char* where, const Graph& here, const Graph& there) {
  return {common_ranges(where, here.parameters, there.parameters),
          common_ranges(where, here.buffers, there.buffers)};
}

}  // namespace gpunet::detail
