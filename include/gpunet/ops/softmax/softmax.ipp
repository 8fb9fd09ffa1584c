// Bodies of softmax_op.hpp.
#pragma once

#include <gpunet/ops/softmax/softmax.hpp>

namespace gpunet {

template <class D, class T>
void SoftmaxOp::forward(D& device, const ForwardPass<T>& pass) const {
  const index_t width = columns(pass);
  softmax_forward(device, pass.slice.outer * width, SoftmaxForward<T>{classes, width, pass.x, pass.y});
}

template <class D, class T>
void SoftmaxOp::backward(D& device, const BackwardPass<T>& pass) const {
  const index_t width = columns(pass);
  if (pass.dx)
    softmax_backward(device, pass.slice.outer * width,
                     SoftmaxBackward<T>{classes, width, pass.y, pass.dy, pass.dx});
}

#if GPUNET_COMPILED
GPUNET_COMPILE_KERNELS(detail::OwnKernels<SoftmaxOp>);
#endif

}  // namespace gpunet
