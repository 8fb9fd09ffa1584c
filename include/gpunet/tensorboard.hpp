// Files for TensorBoard, written by hand or by train::fit.
#pragma once

#include <gpunet/tensorboard/summary_writer.hpp>
#include <gpunet/train/tensorboard_callback.hpp>
