// Bodies of binary.hpp.
#pragma once

#include <algorithm>

#include <gpunet/ops/binary.hpp>
#include <gpunet/ops/binary_kernels.hpp>

namespace gpunet {

GPUNET_INLINE Broadcast::Broadcast(const Sizes& a, const Sizes& b) {
  const int all = std::max(a.rank(), b.rank());
  for (int i = 0; i < all; ++i) {
    const int of_a = i - all + a.rank(), of_b = i - all + b.rank();
    const index_t m = of_a < 0 ? 1 : a[of_a], n = of_b < 0 ? 1 : b[of_b];
    if (m == 1 && n == 1) continue;
    const BroadcastAxis axis{m == 1 ? n : m, m != 1, n != 1};
    BroadcastAxis* last = rank > 0 ? &axes[static_cast<std::size_t>(rank - 1)] : nullptr;
    if (last && last->in_a == axis.in_a && last->in_b == axis.in_b)
      last->extent *= axis.extent;
    else
      axes[static_cast<std::size_t>(rank++)] = axis;
  }
  if (rank == 0) axes[static_cast<std::size_t>(rank++)] = {1, true, true};
}

}  // namespace gpunet
