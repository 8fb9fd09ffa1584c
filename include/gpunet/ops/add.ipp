// Bodies of add.hpp.
#pragma once

#include <gpunet/ops/add.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet {

template <class D, class T>
void AddOp::forward(D& device, const ForwardPass<T>& pass) const {
  const T* sum = pass.inputs[0];
  const T* last = pass.inputs.back();
  for (const T* term : pass.inputs.subspan(1, pass.inputs.size() - 2)) {
    map(device, pass.out_elements(), Add{}, sum, term, pass.y);
    sum = pass.y;
  }
  if (activation == Activation::none)
    map(device, pass.out_elements(), Add{}, sum, last, pass.y);
  else
    map(device, pass.out_elements(), AddAndActivate{{activation}}, sum, last, pass.y);
}

template <class D, class T>
void AddOp::backward(D& device, const BackwardPass<T>& pass) const {
  const bool rectifies = activation == Activation::relu && !pass.dy_is_rectified;
  for (T* dx : pass.input_gradients)
    if (dx && rectifies)
      rectify_gradient(device, pass.out_elements(), pass.y, static_cast<const T*>(pass.dy), dx);
    else if (dx)
      device.copy(dx, pass.dy, static_cast<std::size_t>(pass.out_elements()) * sizeof(T));
}

}  // namespace gpunet
