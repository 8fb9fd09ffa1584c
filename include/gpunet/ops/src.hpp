// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/ops/activation.ipp>
#include <gpunet/ops/add.ipp>
#include <gpunet/ops/batch_norm/batch_norm.ipp>
#include <gpunet/ops/conv2d/conv2d.ipp>
#include <gpunet/ops/cross_entropy/cross_entropy.ipp>
#include <gpunet/ops/linear/host/kernels.ipp>
#include <gpunet/ops/linear/linear.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.ipp>
#include <gpunet/ops/op.ipp>
#include <gpunet/ops/saturation.ipp>
#include <gpunet/ops/softmax/softmax.ipp>

namespace gpunet {

GPUNET_COMPILE_KERNELS(LinearKernels<>);

}  // namespace gpunet
