// A convolution on Cuda together with the rectifier and the pooling behind it: one launch forward, one back, where no
// library does it.
#pragma once

#include <gpunet/ops/conv2d/cuda/products.cuh>

namespace gpunet {

// Elements of T that the two functions below need as scratch.
template <class Geometry, class T>
index_t conv2d_block_scratch(const Cuda& device, const Slice& slice, const Conv2dBlock<Geometry>& block, T) {
  const detail::ConvolutionProducts all(slice, block);
  const auto scratch = [&]<std::size_t count>(const std::array<detail::ProductSizes, count>& products) {
    return detail::product_scratch<T, detail::known_of<Geometry>>(device, products);
  };
  return std::max({detail::library_scratch<T>(device, all), scratch(std::array{all.forward_sizes()}),
                   scratch(std::array{all.parameter_sizes()}),
                   scratch(std::array{all.parameter_sizes(), all.input_sizes()})});
}

// See conv2d_block.host.hpp.
template <class Geometry, class T>
void conv2d_block_forward(Cuda& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const T* x,
                          const T* w, const T* b, T* y, PoolChoice* choice, T* scratch) {
  const detail::ConvolutionProducts all(slice, block);
  auto* library = detail::library_for<T>(device, all);
  if (library && library->forward(device, all, x, w, b, y, choice, scratch)) return;
  detail::product<detail::known_of<Geometry>>(device, all.forward<T>(x, w, b, y, choice), scratch);
}

// y may be null: then dy has gone through the rectifier already.
template <class Geometry, class T>
void conv2d_block_backward(Cuda& device, const Slice& slice, const Conv2dBlock<Geometry>& block, const T* x,
                           const T* y, const PoolChoice* choice, T* dy, const T* w, T* dx, T* dw, T* db,
                           Accumulate accumulate, T* scratch, bool rectify_dx = false) {
  if (block.activation == Activation::relu && y)
    rectify_gradient(device, slice.samples() * block.out_features(), y, dy, dy);
  const detail::ConvolutionProducts all(slice, block);
  if (auto* library = detail::library_for<T>(device, all)) {
    const T* convolution_dy = library->through_pool(device, all, choice, dy, scratch);
    library->backward_parameters(device, all, x, convolution_dy, dw, db, accumulate, scratch);
    if (!dx) return;
    library->backward_input(device, all, convolution_dy, w, dx, scratch);
    if (rectify_dx) rectify_gradient(device, slice.samples() * block.g.in_features(), x, dx, dx);
    return;
  }
  const detail::OutputGradient<T> gradient{dy, block.pool ? choice : nullptr};
  detail::products<detail::known_of<Geometry>>(device, all.parameters<T>(x, gradient, dw, db, accumulate),
                                               all.input<T>(gradient, w, dx, rectify_dx ? x : nullptr), scratch);
}

}  // namespace gpunet
