// All bodies of the library for Cuda, for one unit that nvcc compiles with GPUNET_COMPILED=1 and
// GPUNET_CUDA=1, beside one with src.hpp. CMake's target gpunet::cuda does this in parts that are
// compiled in parallel.
#pragma once

#include <gpunet/data/src.cuh>
#include <gpunet/device/src.cuh>
#include <gpunet/distributed/src.cuh>
#include <gpunet/model/src.cuh>
#include <gpunet/nn/src.cuh>
#include <gpunet/onnx/src.cuh>
#include <gpunet/ops/src.cuh>
#include <gpunet/optim/src.cuh>
#include <gpunet/tensor/src.cuh>
#include <gpunet/train/src.cuh>
