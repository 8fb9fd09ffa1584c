// Bodies of softmax.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/vector_math.hpp>
#include <gpunet/ops/softmax/softmax.hpp>

#define GPUNET_KERNELS <gpunet/ops/softmax/host/columns.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

namespace detail {

// Calls run(o) for each outer index of [outer, classes, width], on several threads where there is
// much to do.
template <class Softmax, class Run>
void for_each_outer(Host& device, index_t columns, const Softmax& softmax, Run run) {
  const index_t outer = columns / softmax.width, size = softmax.classes * softmax.width;
  const index_t some = std::max(index_t{4096} / size, index_t{1});  // in one task
  device.run_if(columns * softmax.classes >= 1 << 15, ceil_div(outer, some),
                [&](index_t task, int) {
                  for (index_t o = task * some; o < std::min((task + 1) * some, outer); ++o)
                    run(o);
                });
}

}  // namespace detail

GPUNET_INLINE void softmax_forward(Host& device, index_t columns,
                                   const SoftmaxForward<float>& softmax) {
  if (softmax.width >= 4)
    detail::for_each_outer(device, columns, softmax, [&](index_t o) {
      GPUNET_CALL_PATH(softmax.width, softmax_forward, softmax, o);
    });
  else if (softmax.width == 1 && softmax.classes >= 4)
    detail::for_each_outer(device, columns, softmax, [&](index_t row) {
      GPUNET_CALL_PATH(softmax.classes, softmax_forward_row, softmax, row);
    });
  else
    softmax_forward<Host, float>(device, columns, softmax);
}

GPUNET_INLINE void softmax_backward(Host& device, index_t columns,
                                    const SoftmaxBackward<float>& softmax) {
  if (softmax.width % 16 != 0) return softmax_backward<Host, float>(device, columns, softmax);
  GPUNET_CALL_PATH(16, softmax_backward, columns, softmax);
}

template <class D, class T>
void SoftmaxOp::forward(D& device, const ForwardPass<T>& pass) const {
  const index_t width = columns(pass);
  softmax_forward(device, pass.slice.outer * width,
                  SoftmaxForward<T>{classes, width, pass.x, pass.y, kind});
}

template <class D, class T>
void SoftmaxOp::backward(D& device, const BackwardPass<T>& pass) const {
  const index_t width = columns(pass);
  if (pass.dx)
    softmax_backward(device, pass.slice.outer * width,
                     SoftmaxBackward<T>{classes, width, pass.y, pass.dy, pass.dx, kind});
}

}  // namespace gpunet
