// Bodies of gemm.hpp.
#pragma once

#include <gpunet/device/host/gemm/blocks.hpp>
#include <gpunet/device/host/gemm/gemm.hpp>

namespace gpunet {

GPUNET_INLINE void gemm(Host& device, Transpose ta, Transpose tb, index_t m, index_t n, index_t k,
                        const float* a, const float* b, float beta, float* c) {
  require(m >= 0 && n >= 0 && k >= 0, "gpunet::gemm: m, n, k are ", m, ", ", n, ", ", k,
          " (want 0 or more)");
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (index_t i = 0; i < m * n; ++i)
      c[i] = beta == 0 ? 0 : beta * c[i];
    return;
  }
  detail::multiply(device, {m,
                            n,
                            k,
                            ta,
                            tb,
                            {a, ta == Transpose::yes ? m : k},
                            {b, tb == Transpose::yes ? k : n},
                            {c, n},
                            beta});
}

}  // namespace gpunet
