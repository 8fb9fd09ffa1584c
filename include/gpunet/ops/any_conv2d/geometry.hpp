// The sizes of a convolution in one or two dimensions with any of torch.nn's options.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet {

// One dimension of a convolution. Output o reads element o stride + k dilation - padding by tap k;
// outside are zeros.
struct ConvAxis {
  index_t size = 1, outputs = 1;
  index_t kernel = 1, stride = 1, padding = 0, dilation = 1;

  // Returns the element that output o reads by tap k; negative, or size and more: a zero.
  GPUNET_FN index_t source(index_t o, index_t k) const {
    return o * stride + k * dilation - padding;
  }
  // Returns the output that reads element i by tap k, or -1.
  GPUNET_FN index_t target(index_t i, index_t k) const {
    const index_t scaled = i + padding - k * dilation;
    return scaled >= 0 && scaled % stride == 0 && scaled / stride < outputs ? scaled / stride : -1;
  }
};

// Sizes of one convolution. x [in_channels, rows.size, columns.size], w [out_channels, ins(),
// rows.kernel, columns.kernel], y [out_channels, rows.outputs, columns.outputs] per sample. Each of
// `groups` runs of output channels reads the run of input channels in the same place.
struct AnyConv2dGeometry {
  index_t in_channels, out_channels, groups;
  ConvAxis rows, columns;

  // Return the input and output channels of a group.
  GPUNET_FN index_t ins() const { return in_channels / groups; }
  GPUNET_FN index_t outs() const { return out_channels / groups; }
  GPUNET_FN index_t area() const { return rows.kernel * columns.kernel; }
  GPUNET_FN index_t taps() const { return ins() * area(); }
  GPUNET_FN index_t in_pixels() const { return rows.size * columns.size; }
  GPUNET_FN index_t out_pixels() const { return rows.outputs * columns.outputs; }
  GPUNET_FN index_t in_features() const { return in_channels * in_pixels(); }
  GPUNET_FN index_t out_features() const { return out_channels * out_pixels(); }
};

}  // namespace gpunet
