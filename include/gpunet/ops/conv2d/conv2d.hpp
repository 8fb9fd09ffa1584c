// Convolution in one or two dimensions, and its transpose, as a node of a graph, with a fused
// activation and pooling.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <gpunet/core/padding.hpp>
#include <gpunet/ops/conv2d/geometry.hpp>
#include <gpunet/ops/conv2d/host/may_be_wide.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

namespace detail {

// The arguments of torch.nn.Conv1d, 2d or 3d.
struct ConvolutionRepr {
  const Conv2dGeometry& channels;  // and groups
  std::span<const ConvAxis> axes;
  std::span<const std::int32_t> padded;  // by a node before, along each axis
  bool transposed, same, bias;
  PadMode padding_mode;

  // Returns them in PyTorch's order and form.
  std::string text() const;
};

}  // namespace detail

// y = pool(activation(x * w + b)), or, transposed, the input gradient of such a convolution plus b:
// then y has the channels and sizes of its x. w and b are the parameters 0 and 1. Inputs are
// [channels, height, width] or [channels, length], one row. Layers make it without activation and
// pooling, which fusing adds where can_be_block().
struct Conv2dOp {
  Conv2dGeometry geometry;
  bool bias = true, transposed = false;
  bool same = false;  // printed as padding=same
  Activation activation = Activation::none;
  bool pool = false;  // over windows of 2 x 2 that do not overlap
  // Another activation, of a network without a backward pass; see fuse().
  Bounds bounds = {};
  // Of a node before this one, which pads its input: the mode, and the rows above and columns left.
  // Printed only.
  PadMode padding_mode = PadMode::constant;
  std::array<std::int32_t, 2> padded{};

  bool can_be_block() const {
    return geometry.groups == 1 && !transposed && geometry.rows.reach() <= most_reach &&
           geometry.columns.reach() <= most_reach;
  }
  bool is_block() const { return activation != Activation::none || pool; }
  template <class Geometry>
  Conv2dBlock<Geometry> block() const {
    return {Geometry{geometry}, activation, pool, bounds};
  }

  OpTraits traits(const Sizes&, const Sizes& out) const {
    OpTraits traits;
    if (pool) traits.cache_bytes = out.numel() * static_cast<index_t>(sizeof(PoolChoice));
    traits.ends_in_relu = traits.can_rectify_dx = is_block();
    return traits;
  }
  std::string extra_repr(const Sizes& in, const Sizes&) const;
  // As torchinfo: each position of the output takes all weights, and each bias, once.
  index_t multiply_adds(const Sizes&, const Sizes& out) const {
    const index_t weights = geometry.out_channels * geometry.taps();
    return (weights + (bias ? out[0] : 0)) * (out[0] > 0 ? out.numel() / out[0] : 0);
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

 private:
  template <class D, class T>
  static void backward_transposed(const Conv2dOp& op, D& device, const BackwardPass<T>& pass);
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
