// Bodies of join.hpp.
#pragma once

#include <gpunet/tensor/join.hpp>

namespace gpunet::detail {

GPUNET_INLINE Sizes joined_sizes(std::span<const Sizes> sizes, int dim) {
  index_t length = 0;
  const Sizes& first = sizes[0];
  for (const Sizes& part : sizes) {
    bool fits = part.rank() == first.rank();
    for (int d = 0; fits && d < part.rank(); ++d)
      fits = d == dim || part[d] == first[d];
    require(fits, "gpunet::cat: tensors of shapes ", to_string(first), " and ", to_string(part),
            " (want the same extents except in dimension ", dim, "), reshape one of them");
    length += part[dim];
  }
  Sizes out;
  for (int d = 0; d < first.rank(); ++d)
    out.append(d == dim ? length : first[d]);
  return out;
}

}  // namespace gpunet::detail
