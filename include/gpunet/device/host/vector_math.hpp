// exp, log and tanh of vectors of floats.
#pragma once

#include <limits>

#include <gpunet/device/host/paths.hpp>

#define GPUNET_KERNELS <gpunet/device/host/vector_math.inl>
#include <gpunet/device/host/each_path.inl>
