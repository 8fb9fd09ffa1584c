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

}  // namespace gpunet
