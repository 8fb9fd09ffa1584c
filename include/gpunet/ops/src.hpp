// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/ops/activation_op.ipp>
#include <gpunet/ops/add_op.ipp>
#include <gpunet/ops/batch_norm_op.ipp>
#include <gpunet/ops/conv2d_op.ipp>
#include <gpunet/ops/linear.host.ipp>
#include <gpunet/ops/linear_op.hpp>
#include <gpunet/ops/max_pool2d_op.ipp>
#include <gpunet/ops/op.ipp>
#include <gpunet/ops/softmax_op.ipp>

namespace gpunet {

GPUNET_COMPILE_KERNELS(LinearKernels<>);

}  // namespace gpunet
