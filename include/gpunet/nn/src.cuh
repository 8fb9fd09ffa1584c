// The same for Cuda.
#pragma once

#include <gpunet/device/cuda/kernels.hpp>
#include <gpunet/nn/src.hpp>
