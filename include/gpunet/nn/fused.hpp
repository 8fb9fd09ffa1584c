// Layers that do the work of several at once. model/fuse.hpp puts them in; nobody writes them.
#pragma once

#include <gpunet/nn/conv2d.hpp>
#include <gpunet/nn/max_pool2d.hpp>
#include <gpunet/ops/activation.hpp>
#include <gpunet/ops/conv2d_block.host.hpp>

#if GPUNET_CUDA
#include <gpunet/ops/conv2d_block.cuh>
#endif

namespace gpunet::nn {

// A Linear and the ReLU behind it: what lies between them is not kept. On a device that makes use of them, the bits are
// kept that say which numbers were let through.
template <class Linear, bool keeps_bits>
struct RectifiedLinear : Linear {
  static constexpr Activation linear_activation = Activation::relu;
  static constexpr bool ends_in_relu = true;

  constexpr explicit RectifiedLinear(const Linear& layer) : Linear(layer) {}

  template <class In>
  constexpr index_t cache_bytes(In in) const {
    return keeps_bits ? relu_bits_bytes(Linear::output(in).numel()) : 0;
  }

  template <class D, class In>
  bool leaves_relu_bits(const D& device, In in, const Slice& slice) const requires keeps_bits {
    return linear_leaves_relu_bits(device, slice, in.numel(), Linear::output(in).numel());
  }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass) const {
    if constexpr (keeps_bits)
      linear_forward(device, pass.slice, in.numel(), Linear::output(in).numel(), pass.x, pass.parameters[0],
                     pass.parameters[1], pass.y, pass.scratch, Activation::relu, pass.cache);
    else
      Linear::forward(device, in, pass, Activation::relu);
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass) const {
    Linear::backward(device, in, pass, pass.dy_is_rectified ? Activation::none : Activation::relu);
  }
};

// A Conv2d, the ReLU behind it, and a MaxPool2d<2> behind that or not.
template <class Conv, bool pool>
class ConvolutionBlock {
 public:
  static constexpr bool ends_in_relu = true, can_rectify_dx = true;

  constexpr explicit ConvolutionBlock(const Conv& convolution) : convolution_(convolution) {}

  template <class In>
  constexpr auto output(In in) const {
    if constexpr (pool)
      return MaxPool2d<2>{}.output(convolution_.output(in));
    else
      return convolution_.output(in);
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return convolution_.parameters(in);
  }

  template <class In>
  constexpr index_t cache_bytes(In in) const {
    return pool ? output(in).numel() * static_cast<index_t>(sizeof(PoolChoice)) : 0;
  }

  template <class D, class In, class T>
  index_t scratch(const D& device, In in, const Slice& slice, T type) const {
    return conv2d_block_scratch(device, slice, block(in), type);
  }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass) const {
    conv2d_block_forward(device, pass.slice, block(in), pass.x, pass.parameters[0], pass.parameters[1], pass.y,
                         reinterpret_cast<PoolChoice*>(pass.cache), pass.scratch);
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass) const {
    conv2d_block_backward(device, pass.slice, block(in), pass.x, pass.dy_is_rectified ? nullptr : pass.y,
                          reinterpret_cast<const PoolChoice*>(pass.cache), pass.dy, pass.parameters[0], pass.dx,
                          pass.gradients[0], pass.gradients[1], pass.accumulate, pass.scratch, pass.rectify_dx);
  }

 private:
  template <class In>
  constexpr auto block(In in) const {
    return Conv2dBlock{convolution_.geometry(in), Activation::relu, pool};
  }

  [[no_unique_address]] Conv convolution_{};
};

}  // namespace gpunet::nn
