// Convolution in three dimensions, and its transpose, as a node of a graph.
#pragma once

#include <gpunet/ops/conv2d/conv2d.hpp>

namespace gpunet {

// y = x * w + b, or, transposed, the input gradient of such a convolution plus b: then y has the
// channels and sizes of its x. w and b are the parameters 0 and 1. Inputs are [channels, depth,
// height, width].
//
// A plane of the output is a convolution in two dimensions of the planes under the kernel: w
// [out_channels, ins, kernel planes, kernel rows, kernel columns] is read as [out_channels,
// ins * kernel planes, kernel rows, kernel columns]. All kernels of conv2d/ serve it.
struct Conv3dOp {
  ConvAxis planes;
  Conv2dGeometry plane;  // of one plane of the output: its in_channels are channels x kernel planes
  bool bias = true, transposed = false;
  bool same = false;  // printed as padding=same
  // Of a node before this one, as in Conv2dOp.
  PadMode padding_mode = PadMode::constant;
  std::array<std::int32_t, 3> padded{};

  index_t in_channels() const { return plane.in_channels / planes.kernel; }

  std::string extra_repr(const Sizes& in, const Sizes& out) const;
  // As torchinfo: each position of the output takes all weights, and each bias, once.
  index_t multiply_adds(const Sizes&, const Sizes& out) const {
    const index_t weights = plane.out_channels * plane.taps();
    return (weights + (bias ? out[0] : 0)) * (out[0] > 0 ? out.numel() / out[0] : 0);
  }

  template <class D, class T>
  index_t scratch(const D& device, const Slice& slice, T type) const;
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/conv3d/conv3d.ipp>
#endif
