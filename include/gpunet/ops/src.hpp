// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/ops/add.ipp>
#include <gpunet/ops/attention/attention.ipp>
#include <gpunet/ops/avg_pool2d/avg_pool2d.ipp>
#include <gpunet/ops/batch_norm/batch_norm.ipp>
#include <gpunet/ops/bilinear.ipp>
#include <gpunet/ops/binary.ipp>
#include <gpunet/ops/concat.ipp>
#include <gpunet/ops/conv2d/conv2d.ipp>
#include <gpunet/ops/conv3d/conv3d.ipp>
#include <gpunet/ops/convert.ipp>
#include <gpunet/ops/cross_entropy/cross_entropy.ipp>
#include <gpunet/ops/cross_entropy/targets.ipp>
#include <gpunet/ops/dropout.ipp>
#include <gpunet/ops/embedding.ipp>
#include <gpunet/ops/gather.ipp>
#include <gpunet/ops/gather_samples.ipp>
#include <gpunet/ops/glu.ipp>
#include <gpunet/ops/last_step.ipp>
#include <gpunet/ops/linear/linear.ipp>
#include <gpunet/ops/max_pool2d/max_pool2d.ipp>
#include <gpunet/ops/op.ipp>
#include <gpunet/ops/pick.ipp>
#include <gpunet/ops/pool3d.ipp>
#include <gpunet/ops/position_embedding.ipp>
#include <gpunet/ops/prelu.ipp>
#include <gpunet/ops/recurrent/recurrent.ipp>
#include <gpunet/ops/relu.ipp>
#include <gpunet/ops/row_norm/row_norm.ipp>
#include <gpunet/ops/softmax/softmax.ipp>
#include <gpunet/ops/sources.ipp>
#include <gpunet/ops/sum.ipp>

namespace gpunet {

GPUNET_EACH_OP(GPUNET_COMPILE_OP);

}  // namespace gpunet
