// The dense matrix product on Host.
#pragma once

#include <gpunet/device/gemm.hpp>
#include <gpunet/device/host/host.hpp>

namespace gpunet {

// See device/gemm.hpp.
void gemm(Host& device, Transpose ta, Transpose tb, index_t m, index_t n, index_t k, const float* a,
          const float* b, float beta, float* c);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/device/host/gemm/gemm.ipp>
#endif
