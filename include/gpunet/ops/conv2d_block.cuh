// A convolution on Cuda together with the rectifier and the pooling behind it: one launch forward, one back, where no
// library does it.
#pragma once

#include <gpunet/ops/conv2d.cuh>

namespace gpunet {

// Elements of T that the two functions below need as scratch.
template <class Geometry, class T>
index_t conv2d_block_scratch(const Cuda& device, const Slice& slice, const Conv2dBlock<Geometry>& block, T) {
  const detail::ConvolutionProducts all(slice, block);
  const detail::ProductSizes forward = all.forward_sizes(), parameters = all.parameter_sizes();
  return std::max({detail::library_scratch<T>(device, all), detail::product_scratch<T>(device, std::array{forward}),
                   detail::product_scratch<T>(device, std::array{parameters}),
                   detail::product_scratch<T>(device, std::array{parameters, all.input_sizes()})});
}

// See conv2d_block.host.hpp.
template <class Geometry, class T>
void conv2d_block_forward(Cuda& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const T* x,
                          const T* w, const T* b, T* y, PoolChoice* choice, T* scratch) {
  const detail::ConvolutionProducts all(slice, block);
  auto* library = detail::library_for<T>(device, all);
  if (library && library->forward(device, all, x, w, b, y, choice, scratch)) return;
  detail::product(device, all.forward<T>(x, w, b, y, choice), scratch);
}

template <class Geometry, class T>
void conv2d_block_backward(Cuda& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const T* x,
                           const T* y, const PoolChoice* choice, T* dy, const T* w, T* dx, T* dw, T* db,
                           Accumulate accumulate, T* scratch) {
  const detail::ConvolutionProducts all(slice, block);
  if (auto* library = detail::library_for<T>(device, all)) {
    const T* convolution_dy = library->through_block(device, all, y, choice, dy, scratch);
    library->backward_parameters(device, all, x, convolution_dy, dw, db, accumulate, scratch);
    if (dx) library->backward_input(device, all, convolution_dy, w, dx, scratch);
    return;
  }
  const detail::OutputGradient<T> gradient = all.gradient<T>(dy, y, choice);
  detail::products(device, all.parameters<T>(x, gradient, dw, db, accumulate), all.input<T>(gradient, w, dx),
                   scratch);
}

}  // namespace gpunet
