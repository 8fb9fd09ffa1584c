// One layer by itself.
#pragma once

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/layer_run.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/guarded_buffer.hpp"

using gpunet::InputGradient, gpunet::nn::LayerRun, gpunet::nn::test_slices;
