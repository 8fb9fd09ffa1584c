// Softmax and negative log-likelihood of floats on Host: vectors over the samples of a slice.
#pragma once

#include <algorithm>

#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/vector_math.hpp>
#include <gpunet/ops/cross_entropy/plain.hpp>

#define GPUNET_KERNELS <gpunet/ops/cross_entropy/host/groups.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

inline void cross_entropy(Host& device, const CrossEntropy<float>& loss) {
  if (loss.slice.inner != 16) return cross_entropy<Host, float>(device, loss);
  const detail::FlushSubnormals flush;  // as in a training step, where this is part of a task
  GPUNET_CALL_PATH(16, cross_entropy, loss);
}

}  // namespace gpunet
