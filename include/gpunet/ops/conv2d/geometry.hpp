// The sizes of a convolution, alone and with the activation and pooling behind it.
#pragma once

#include <gpunet/ops/max_pool2d/geometry.hpp>
#include <gpunet/ops/relu.hpp>

namespace gpunet {

// Sizes of one convolution. x [in_channels, height, width], w [out_channels, in_channels, kernel,
// kernel], y [out_channels, out_height, out_width] per sample; square kernel, same stride and zero
// padding on both axes.
struct Conv2dGeometry {
  index_t in_channels, height, width;
  index_t out_channels, out_height, out_width;
  index_t kernel, stride, padding;

  GPUNET_FN index_t in_features() const { return in_channels * height * width; }
  GPUNET_FN index_t out_features() const { return out_channels * out_height * out_width; }
  GPUNET_FN index_t out_pixels() const { return out_height * out_width; }
  GPUNET_FN index_t taps() const { return in_channels * kernel * kernel; }

  friend bool operator==(const Conv2dGeometry&, const Conv2dGeometry&) = default;
};

// A convolution that may have many channels. A type of its own, so that programs that are known,
// when they are compiled, to have none do not compile its kernels.
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

  // Return the rows and columns of the convolution that contribute to y.
  index_t used_height() const { return pool ? g.out_height / 2 * 2 : g.out_height; }
  index_t height() const { return pool ? g.out_height / 2 : g.out_height; }
  index_t width() const { return pool ? g.out_width / 2 : g.out_width; }
  index_t out_features() const { return g.out_channels * height() * width(); }

  Pool2dGeometry pooling(index_t rows) const {
    return {g.out_channels, rows, g.out_width, rows / 2, g.out_width / 2, 2, 2, 0};
  }
};

}  // namespace gpunet
