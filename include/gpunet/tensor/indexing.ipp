// Bodies of indexing.hpp.
#pragma once

#include <algorithm>
#include <atomic>

#include <gpunet/tensor/indexing.hpp>

namespace gpunet::detail {

// Returns whether an index is not from 0 to extent - 1.
[[GPUNET_VECTORIZE]] inline bool has_wrong_index(const index_t* indices, index_t n,
                                                 index_t extent) {
  std::uint64_t outside = 0;  // the highest bit: an index is negative, or not below the extent
  for (index_t i = 0; i < n; ++i) {
    const auto index = static_cast<std::uint64_t>(indices[i]);
    outside |= index | (static_cast<std::uint64_t>(extent) - 1 - index);
  }
  return outside >> 63;
}

GPUNET_INLINE index_t place_of_wrong_index(Host& device, const index_t* indices, index_t n,
                                           index_t extent) {
  constexpr index_t part = 1 << 15;
  std::atomic<bool> is_wrong = false;
  device.run_if(n > part, ceil_div(n, part), [&](index_t p, int) {
    if (has_wrong_index(indices + p * part, std::min(part, n - p * part), extent)) is_wrong = true;
  });
  if (!is_wrong) return -1;
  return std::find_if(indices, indices + n, [extent](index_t i) { return i < 0 || i >= extent; }) -
         indices;
}

GPUNET_INLINE void check_index_shape(const Sizes& x, const Sizes& index, int dim,
                                     std::string_view function) {
  bool fits = x.rank() == index.rank();
  for (int d = 0; fits && d < x.rank(); ++d)
    fits = d == dim || index[d] <= x[d];
  require(fits, "gpunet::", function, ": indices of shape ", to_string(index),
          " for a tensor of shape ", to_string(x),
          " (want as many dimensions, and no larger extents than it except in dimension ", dim,
          "), reshape them");
}

}  // namespace gpunet::detail
