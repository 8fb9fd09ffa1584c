// Bodies of softmax.hpp.
#pragma once

#include <gpunet/device/host/vector_math.hpp>
#include <gpunet/ops/softmax/softmax.hpp>

#define GPUNET_KERNELS <gpunet/ops/softmax/host/columns.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

GPUNET_INLINE void softmax_forward(Host& device, index_t columns, const SoftmaxForward<float>& softmax) {
  if (softmax.width % 16 != 0) return softmax_forward<Host, float>(device, columns, softmax);
  GPUNET_CALL_PATH(16, softmax_forward, columns, softmax);
}

GPUNET_INLINE void softmax_backward(Host& device, index_t columns, const SoftmaxBackward<float>& softmax) {
  if (softmax.width % 16 != 0) return softmax_backward<Host, float>(device, columns, softmax);
  GPUNET_CALL_PATH(16, softmax_backward, columns, softmax);
}

template <class D, class T>
void SoftmaxOp::forward(D& device, const ForwardPass<T>& pass) const {
  const index_t width = columns(pass);
  softmax_forward(device, pass.slice.outer * width, SoftmaxForward<T>{classes, width, pass.x, pass.y, kind});
}

template <class D, class T>
void SoftmaxOp::backward(D& device, const BackwardPass<T>& pass) const {
  const index_t width = columns(pass);
  if (pass.dx)
    softmax_backward(device, pass.slice.outer * width,
                     SoftmaxBackward<T>{classes, width, pass.y, pass.dy, pass.dx, kind});
}

#if GPUNET_COMPILED
GPUNET_COMPILE_KERNELS(detail::OwnKernels<SoftmaxOp>);
#endif

}  // namespace gpunet
