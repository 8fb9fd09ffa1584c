// All bodies of this folder and the kernels of layers that are ops themselves, a part of the compiled library.
#pragma once

#include <gpunet/nn/any_activation.hpp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/init.ipp>

GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::Flatten>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::detail::Identity>);
