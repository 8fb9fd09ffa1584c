// exp, log and tanh of vectors of floats.
#pragma once

#include <limits>

#include <gpunet/device/host/isa_paths.hpp>

#define GPUNET_KERNELS <gpunet/device/host/vector_math.inl>
#include <gpunet/device/host/each_isa_path.inl>
