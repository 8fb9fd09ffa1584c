// Bodies of indexing.hpp.
#pragma once

#include <gpunet/tensor/indexing.hpp>

namespace gpunet::detail {

GPUNET_INLINE index_t place_of_wrong_index(Host&, const index_t* indices, index_t n, index_t extent) {
  std::uint64_t largest = 0;  // negative ones are large
  for (index_t i = 0; i < n; ++i)
    largest = std::max(largest, static_cast<std::uint64_t>(indices[i]));
  if (largest < static_cast<std::uint64_t>(extent)) return -1;
  return std::find_if(indices, indices + n, [extent](index_t i) { return i < 0 || i >= extent; }) - indices;
}

GPUNET_INLINE void check_index_shape(const Sizes& x, const Sizes& index, int dim, std::string_view function) {
  bool fits = x.rank() == index.rank();
  for (int d = 0; fits && d < x.rank(); ++d)
    fits = d == dim || index[d] <= x[d];
  require(fits, "gpunet::", function, ": indices of shape ", to_string(index), " for a tensor of shape ",
          to_string(x), " (want as many dimensions, and no larger extents than it except in dimension ", dim,
          "), reshape them");
}

}  // namespace gpunet::detail
