// Networks as functions of values: layers, losses and arithmetic as functions. Not in gpunet.hpp,
// because a header-only program would read all of their kernels.
#pragma once

#include <gpunet/nn/constant.hpp>
#include <gpunet/nn/functional.hpp>
