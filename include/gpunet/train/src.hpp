// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/train/callbacks.ipp>
#include <gpunet/train/confusion_matrix.ipp>
#include <gpunet/train/fit_ranks.ipp>
#include <gpunet/train/interrupt.ipp>
#include <gpunet/train/profile.ipp>
#include <gpunet/train/progress.ipp>
#include <gpunet/train/running_loss.ipp>
#include <gpunet/train/step_runner.hpp>
#include <gpunet/train/training.ipp>

namespace gpunet::train {

GPUNET_EACH_OPTIMIZER(GPUNET_COMPILE_STEP)

}  // namespace gpunet::train
