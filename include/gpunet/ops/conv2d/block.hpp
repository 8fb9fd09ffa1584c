// A convolution together with the rectifier and the pooling behind it.
#pragma once

#include <gpunet/ops/activation.hpp>
#include <gpunet/ops/conv2d/plain.hpp>
#include <gpunet/ops/max_pool2d/plain.hpp>

namespace gpunet {

// A convolution and what follows it: y = pool(activation(x * w + b)), with max pooling over windows of 2 x 2 that do not
// overlap, or none.
template <class Geometry>
struct Conv2dBlock {
  Geometry g;  // Conv2dGeometry, or one derived from it
  Activation activation;
  bool pool;

  // Rows and columns of the convolution that have a part in y.
  index_t used_height() const { return pool ? g.out_height / 2 * 2 : g.out_height; }
  index_t height() const { return pool ? g.out_height / 2 : g.out_height; }
  index_t width() const { return pool ? g.out_width / 2 : g.out_width; }
  index_t out_features() const { return g.out_channels * height() * width(); }

  Pool2dGeometry pooling(index_t rows) const {
    return {g.out_channels, rows, g.out_width, rows / 2, g.out_width / 2, 2, 2, 0};
  }
};
template <class Geometry>
Conv2dBlock(Geometry, Activation, bool) -> Conv2dBlock<Geometry>;

}  // namespace gpunet
