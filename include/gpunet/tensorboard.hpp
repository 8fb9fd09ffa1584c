// Writes files for TensorBoard, in your own loop or in train::fit.
#pragma once

#include <gpunet/extras/tensorboard/summary_writer.hpp>
#include <gpunet/extras/tensorboard/tensorboard_callback.hpp>
