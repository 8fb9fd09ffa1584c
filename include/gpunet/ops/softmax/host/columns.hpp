// Softmax of floats on Host: vectors over columns.
#pragma once

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/vector_math.hpp>
#include <gpunet/ops/softmax/plain.hpp>

#define GPUNET_KERNELS <gpunet/ops/softmax/host/columns.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

inline void softmax_forward(Host& device, index_t columns, const SoftmaxForward<float>& softmax) {
  if (softmax.width % 16 != 0) return softmax_forward<Host, float>(device, columns, softmax);
  GPUNET_CALL_PATH(16, softmax_forward, columns, softmax);
}

inline void softmax_backward(Host& device, index_t columns, const SoftmaxBackward<float>& softmax) {
  if (softmax.width % 16 != 0) return softmax_backward<Host, float>(device, columns, softmax);
  GPUNET_CALL_PATH(16, softmax_backward, columns, softmax);
}

}  // namespace gpunet
