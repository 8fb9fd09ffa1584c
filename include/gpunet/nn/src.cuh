// The same for Cuda.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/nn/src.hpp>

GPUNET_COMPILE_LOOP(gpunet::nn::detail::LossOfPart<float>);
GPUNET_COMPILE_LOOP(gpunet::nn::detail::LossOfPart<double>);
