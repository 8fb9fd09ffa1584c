// Writes files for TensorBoard, in your own loop or in train::fit.
#pragma once

#include <gpunet/tensorboard/summary_writer.hpp>
#include <gpunet/train/tensorboard_callback.hpp>
