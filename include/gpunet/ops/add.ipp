// Bodies of add.hpp.
#pragma once

#include <gpunet/ops/add.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet {

template <class D, class T>
void AddOp::forward(D& device, const ForwardPass<T>& pass) const {
  map(device, pass.out_elements(), Add{}, pass.inputs[0], pass.inputs[1], pass.y);
  for (const T* more : pass.inputs.subspan(2))
    map(device, pass.out_elements(), Add{}, static_cast<const T*>(pass.y), more, pass.y);
}

template <class D, class T>
void AddOp::backward(D& device, const BackwardPass<T>& pass) const {
  for (T* dx : pass.input_gradients)
    if (dx) device.copy(dx, pass.dy, static_cast<std::size_t>(pass.out_elements()) * sizeof(T));
}

#if GPUNET_COMPILED
GPUNET_COMPILE_KERNELS(detail::OwnKernels<AddOp>);
#endif

}  // namespace gpunet
