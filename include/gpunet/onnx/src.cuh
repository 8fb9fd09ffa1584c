// The same for Cuda.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/onnx/src.hpp>
