// Bodies of max_pool2d.hpp.
#pragma once

#include <gpunet/ops/max_pool2d/host/windows.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>

namespace gpunet {

template <class D, class T>
void MaxPool2dOp::forward(D& device, const ForwardPass<T>& pass) const {
  max_pool2d_forward(device, pass.slice, geometry, pass.x, pass.y,
                     reinterpret_cast<PoolChoice*>(pass.cache));
}

template <class D, class T>
void MaxPool2dOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (pass.dx)
    max_pool2d_backward(device, pass.slice, geometry, pass.dy,
                        reinterpret_cast<const PoolChoice*>(pass.cache), pass.dx);
}

}  // namespace gpunet
