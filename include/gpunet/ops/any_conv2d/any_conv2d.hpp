// Convolution in one or two dimensions with groups, and its transpose, as a node of a graph.
#pragma once

#include <gpunet/ops/conv2d/conv2d.hpp>

namespace gpunet {

// y = x * w + b, or, transposed, the input gradient of such a convolution: then y has the channels
// and sizes of its x. w and b are the parameters 0 and 1. Inputs are [channels, height, width] or
// [channels, length], one row.
struct AnyConv2dOp {
  Conv2dGeometry geometry;
  bool bias = true, transposed = false;
  bool same = false;  // printed as padding=same

  std::string extra_repr(const Sizes& in, const Sizes&) const {
    return detail::convolution_repr(geometry, in.rank() == 2, transposed, same, bias);
  }
  // As torchinfo: each position of the output takes all weights, and each bias, once.
  index_t multiply_adds(const Sizes&, const Sizes& out) const;

  template <class D, class T>
  index_t scratch(const D& device, const Slice& slice, T type) const;
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/any_conv2d/any_conv2d.ipp>
#endif
