// All bodies of this folder for Cuda, a part of the compiled library.
#pragma once

#include <gpunet/device/cuda/cuda.cuh>
#include <gpunet/device/cuda/loops.hpp>

namespace gpunet {

template void gemm(Cuda&, Transpose, Transpose, index_t, index_t, index_t, const float*,
                   const float*, float, float*);
template void gemm(Cuda&, Transpose, Transpose, index_t, index_t, index_t, const double*,
                   const double*, double, double*);

}  // namespace gpunet
