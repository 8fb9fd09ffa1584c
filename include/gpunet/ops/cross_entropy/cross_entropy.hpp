// Softmax and negative log-likelihood in one, on all devices.
#pragma once

#include <gpunet/ops/cross_entropy/host/groups.hpp>
#include <gpunet/ops/cross_entropy/plain.hpp>

#if GPUNET_CUDA  // here, so that every unit has the same version for Cuda
#include <gpunet/ops/cross_entropy/cuda/warps.cuh>
#endif
