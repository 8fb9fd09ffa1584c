// Bodies of relu.hpp.
#pragma once

#include <gpunet/ops/relu.hpp>

namespace gpunet {

template <class D, class T>
void ReluOp::forward(D& device, const ForwardPass<T>& pass) const {
  rectify(device, pass.out_elements(), pass.x, pass.y);
}

template <class D, class T>
void ReluOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (pass.dx) rectify_gradient(device, pass.in_elements(), pass.y, pass.dy, pass.dx);
}

}  // namespace gpunet
