// Bodies of avg_pool2d.hpp.
#pragma once

#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>
#include <gpunet/ops/avg_pool2d/host/rows.hpp>

namespace gpunet {

template <class D, class T>
void AvgPool2dOp::forward(D& device, const ForwardPass<T>& pass) const {
  avg_pool2d_forward(device, pass.slice, geometry, pass.x, pass.y);
}

template <class D, class T>
void AvgPool2dOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (pass.dx) avg_pool2d_backward(device, pass.slice, geometry, pass.dy, pass.dx);
}

}  // namespace gpunet
