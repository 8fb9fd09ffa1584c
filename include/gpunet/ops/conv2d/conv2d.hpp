// Two-dimensional convolution as a node of a graph, with a fused activation and pooling.
#pragma once

#include <gpunet/ops/conv2d/geometry.hpp>
#include <gpunet/ops/conv2d/host/may_be_wide.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = pool(activation(x * w + b)); w, b are the parameters 0 and 1. Layers make it without
// activation and pooling, which fusing adds.
struct Conv2dOp {
  Conv2dGeometry geometry;
  bool bias = true;
  Activation activation = Activation::none;
  bool pool = false;  // over windows of 2 x 2 that do not overlap
  bool same = false;  // printed as padding=same

  bool is_block() const { return activation != Activation::none || pool; }
  template <class Geometry>
  Conv2dBlock<Geometry> block() const {
    return {Geometry{geometry}, activation, pool};
  }

  OpTraits traits(const Sizes&, const Sizes& out) const {
    OpTraits traits;
    if (pool) traits.cache_bytes = out.numel() * static_cast<index_t>(sizeof(PoolChoice));
    traits.ends_in_relu = traits.can_rectify_dx = is_block();
    return traits;
  }
  std::string extra_repr(const Sizes&, const Sizes&) const;
  // Each position of the output takes all weights, and a bias, once.
  index_t multiply_adds(const Sizes&, const Sizes&) const {
    return (geometry.taps() + (bias ? 1 : 0)) * geometry.out_features();
  }
};

// The kernels for sizes of type Geometry: Conv2dGeometry where the channels are few, else
// WideConv2dGeometry.
template <class Geometry>
struct Conv2dKernels {
  using op_type = Conv2dOp;

  template <class D, class T>
  static index_t scratch(const Conv2dOp& op, const D& device, const Slice& slice, T type);

  template <class D, class T>
  static void forward(const Conv2dOp& op, D& device, const ForwardPass<T>& pass);

  template <class D, class T>
  static void backward(const Conv2dOp& op, D& device, const BackwardPass<T>& pass);
};

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(Conv2dKernels<WideConv2dGeometry>);
GPUNET_EXTERN_HOST_KERNELS(Conv2dKernels<Conv2dGeometry>);
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/conv2d/conv2d.ipp>
#endif
#if GPUNET_CUDNN && GPUNET_NVCC  // one unit that includes this is enough for a program
#include <gpunet/ops/conv2d/cuda/conv2d_by_cudnn.cuh>
#endif
