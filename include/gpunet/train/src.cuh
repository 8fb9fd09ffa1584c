// All bodies of this folder for Cuda, a part of the compiled library.
#pragma once

#include <gpunet/train/confusion_matrix.hpp>
#include <gpunet/train/metrics.hpp>
#include <gpunet/train/running_loss.hpp>
#include <gpunet/train/step_runner.cuh>

namespace gpunet::train {

GPUNET_EACH_OPTIMIZER(GPUNET_COMPILE_STEP)

}  // namespace gpunet::train

GPUNET_COMPILE_LOOP(gpunet::train::AddLoss<float>);
GPUNET_COMPILE_LOOP(gpunet::train::AddLoss<double>);
GPUNET_COMPILE_LOOP(gpunet::train::ResetLoss);
GPUNET_COMPILE_LOOP(gpunet::train::CountPairs);
GPUNET_COMPILE_SUM(gpunet::train::CountTopK<float>);
GPUNET_COMPILE_SUM(gpunet::train::CountTopK<double>);
