// All bodies of the library, for one unit of a program whose units are all compiled with
// GPUNET_COMPILED=1. CMake's target gpunet::compiled does this in parts that are compiled in
// parallel.
#pragma once

#include <gpunet/core/src.hpp>
#include <gpunet/data/src.hpp>
#include <gpunet/device/src.hpp>
#include <gpunet/distributed/src.hpp>
#include <gpunet/extras/src.hpp>
#include <gpunet/graph/src.hpp>
#include <gpunet/io/src.hpp>
#include <gpunet/model/src.hpp>
#include <gpunet/nn/src.hpp>
#include <gpunet/onnx/src.hpp>
#include <gpunet/ops/src.hpp>
#include <gpunet/optim/src.hpp>
#include <gpunet/tensor/src.hpp>
#include <gpunet/train/src.hpp>
