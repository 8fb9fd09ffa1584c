// The sizes of a convolution, alone and with the activation and pooling behind it.
#pragma once

#include <gpunet/ops/max_pool2d/geometry.hpp>
#include <gpunet/ops/relu.hpp>

namespace gpunet {

// One dimension of a convolution. Output o reads element o stride + k dilation - padding by tap k;
// outside are zeros.
struct ConvAxis {
  index_t size = 1, outputs = 1;
  index_t kernel = 1, stride = 1, padding = 0, dilation = 1;  // padding before the first element

  // Returns the elements from the first to the last that taps reach.
  GPUNET_FN constexpr index_t reach() const { return (kernel - 1) * dilation + 1; }
  // Returns the elements that all outputs read, with the zeros around: at least those of the input
  // and of the padding before it.
  GPUNET_FN constexpr index_t padded() const {
    const index_t read = (outputs - 1) * stride + reach(), before = padding + size;
    return read > before ? read : before;
  }
  // Returns the same with the padding as elements of the input.
  constexpr ConvAxis padded_by(index_t before, index_t behind) const {
    ConvAxis axis = *this;
    axis.size += before + behind;
    axis.padding = 0;
    return axis;
  }
  // Returns whether each output is the product of one element.
  GPUNET_FN constexpr bool is_pointwise() const {
    return kernel == 1 && stride == 1 && padding == 0 && outputs == size;
  }

  // Returns the element that output o reads by tap k; negative, or size and more: a zero.
  GPUNET_FN index_t source(index_t o, index_t k) const {
    return o * stride + k * dilation - padding;
  }
  // Returns the output that reads element i by tap k, or -1.
  GPUNET_FN index_t target(index_t i, index_t k) const {
    const index_t scaled = i + padding - k * dilation;
    return scaled >= 0 && scaled % stride == 0 && scaled / stride < outputs ? scaled / stride : -1;
  }

  friend constexpr bool operator==(const ConvAxis&, const ConvAxis&) = default;
};

// The longest reach of a tiled product on Cuda, which counts it in shorts.
inline constexpr index_t most_reach = 32767;

// Sizes of one convolution. x [in_channels, rows.size, columns.size], w [out_channels, ins(),
// rows.kernel, columns.kernel], y [out_channels, rows.outputs, columns.outputs] per sample. Each of
// `groups` runs of output channels reads the run of input channels in the same place.
struct Conv2dGeometry {
  index_t in_channels = 0, out_channels = 0, groups = 1;
  ConvAxis rows, columns;

  // Return the input and output channels of a group.
  GPUNET_FN constexpr index_t ins() const { return in_channels / groups; }
  GPUNET_FN constexpr index_t outs() const { return out_channels / groups; }
  GPUNET_FN constexpr index_t area() const { return rows.kernel * columns.kernel; }
  GPUNET_FN constexpr index_t taps() const { return ins() * area(); }
  GPUNET_FN constexpr index_t in_pixels() const { return rows.size * columns.size; }
  GPUNET_FN constexpr index_t out_pixels() const { return rows.outputs * columns.outputs; }
  GPUNET_FN constexpr index_t in_features() const { return in_channels * in_pixels(); }
  GPUNET_FN constexpr index_t out_features() const { return out_channels * out_pixels(); }
  // Returns the sizes of one group.
  GPUNET_FN constexpr Conv2dGeometry of_group() const { return {ins(), outs(), 1, rows, columns}; }

  friend constexpr bool operator==(const Conv2dGeometry&, const Conv2dGeometry&) = default;
};

// A convolution that may have many channels. A type of its own, so that programs without one, by
// their compile-time sizes, do not compile its kernels.
struct WideConv2dGeometry : Conv2dGeometry {
  static constexpr index_t many = 16;       // channels on both sides, for Host
  static constexpr index_t many_rows = 32;  // and more, on either side, for the tiles of Cuda

  const Conv2dGeometry& general() const { return *this; }
};

// A convolution with activation and pooling: y = pool(activation(x * w + b)), with max pooling over
// windows of 2 x 2 that do not overlap, or none.
template <class Geometry>
struct Conv2dBlock {
  Geometry g;  // Conv2dGeometry, or one derived from it
  Activation activation = Activation::none;
  bool pool = false;
  Bounds bounds = {};  // of y without an activation, where no backward pass follows

  // Returns the activation as bounds.
  template <class T>
  Clamp<T> clamp() const {
    return Clamp<T>(activation == Activation::relu ? Bounds{.low = 0} : bounds);
  }

  // Return the rows and columns of the convolution that contribute to y.
  index_t used_height() const { return pool ? g.rows.outputs / 2 * 2 : g.rows.outputs; }
  index_t height() const { return pool ? g.rows.outputs / 2 : g.rows.outputs; }
  index_t width() const { return pool ? g.columns.outputs / 2 : g.columns.outputs; }
  index_t out_features() const { return g.out_channels * height() * width(); }

  Pool2dGeometry pooling(index_t rows) const {
    return {g.out_channels, rows, g.columns.outputs, rows / 2, g.columns.outputs / 2, 2, 2, 0};
  }
};

}  // namespace gpunet
