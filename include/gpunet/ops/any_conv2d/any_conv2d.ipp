// Bodies of any_conv2d.hpp.
#pragma once

#include <gpunet/ops/any_conv2d/any_conv2d.hpp>
#include <gpunet/ops/any_conv2d/host/rows.hpp>

namespace gpunet {

GPUNET_INLINE index_t AnyConv2dOp::multiply_adds(const Sizes&, const Sizes& out) const {
  const index_t weights = geometry.out_channels * geometry.taps();
  return (weights + (bias ? out[0] : 0)) * (out[0] > 0 ? out.numel() / out[0] : 0);
}

template <class D, class T>
index_t AnyConv2dOp::scratch(const D& device, const Slice& slice, T type) const {
  return any_conv2d_scratch(device, slice, geometry, type);
}

template <class D, class T>
void AnyConv2dOp::forward(D& device, const ForwardPass<T>& pass) const {
  const AnyConv2dArgs<T> args{pass.slice, geometry, pass.parameters[0],
                              bias ? pass.parameters[1] : nullptr, pass.scratch};
  if (transposed)
    any_conv2d_backward_input(device, args, pass.x, pass.y);
  else
    any_conv2d_forward(device, args, pass.x, pass.y);
}

template <class D, class T>
void AnyConv2dOp::backward(D& device, const BackwardPass<T>& pass) const {
  const AnyConv2dArgs<T> args{pass.slice, geometry, pass.parameters[0], nullptr, pass.scratch};
  const T* dy = pass.dy;
  const T *image = transposed ? dy : pass.x, *gradient = transposed ? pass.x : dy;
  if (!pass.skips_parameters)
    any_conv2d_backward_weight(device, args, image, gradient, pass.gradients[0], pass.accumulate);
  if (bias && !pass.skips_parameters)
    any_conv2d_backward_bias(device, pass.slice,
                             transposed ? geometry.in_channels : geometry.out_channels,
                             transposed ? geometry.in_pixels() : geometry.out_pixels(), dy,
                             pass.gradients[1], pass.accumulate);
  if (!pass.dx) return;
  if (transposed)
    any_conv2d_forward(device, args, dy, pass.dx);
  else
    any_conv2d_backward_input(device, args, dy, pass.dx);
}

}  // namespace gpunet
