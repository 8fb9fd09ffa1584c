// Bodies of shape.hpp.
#pragma once

#include <gpunet/core/shape.hpp>

namespace gpunet {

GPUNET_INLINE std::string to_string(const Sizes& sizes) {
  std::string out = "[";
  for (int i = 0; i < sizes.rank(); ++i)
    out += concat(i ? ", " : "", sizes[i]);
  return out + "]";
}

GPUNET_INLINE std::optional<Sizes> broadcast_shapes(const Sizes& a, const Sizes& b) {
  const int rank = std::max(a.rank(), b.rank());
  Sizes out;
  for (int i = 0; i < rank; ++i) {
    const int of_a = i - rank + a.rank(), of_b = i - rank + b.rank();
    const index_t m = of_a < 0 ? 1 : a[of_a], n = of_b < 0 ? 1 : b[of_b];
    if (m != n && m != 1 && n != 1) return std::nullopt;
    out.append(m == 1 ? n : m);
  }
  return out;
}

namespace detail {

GPUNET_INLINE int dimension_at(int dim, int rank, std::string_view function) {
  require(rank > 0, "gpunet::", function, ": dimension ", dim,
          " of a tensor without dimensions, reshape it");
  require(-rank <= dim && dim < rank, "gpunet::", function, ": dimension ", dim,
          " of a tensor with ", rank, " dimensions (want ", -rank, " to ", rank - 1, ")");
  return dim < 0 ? dim + rank : dim;
}

GPUNET_INLINE AlongDimension::AlongDimension(const Sizes& sizes, int dim, bool keepdim,
                                             std::string_view function) {
  if (sizes.rank() == 0 && (dim == 0 || dim == -1)) return;  // as in PyTorch
  const int at = dimension_at(dim, sizes.rank(), function);
  for (int i = 0; i < sizes.rank(); ++i) {
    (i < at ? outer : i == at ? length : inner) *= sizes[i];
    if (i != at || keepdim) others.append(i == at ? 1 : sizes[i]);
  }
}

}  // namespace detail

}  // namespace gpunet
