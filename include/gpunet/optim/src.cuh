// All bodies of this folder for Cuda, a part of the compiled library.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/optim/src.hpp>
