// The sizes of a pooling.
#pragma once

#include <cstdint>

#include <gpunet/core/config.hpp>

namespace gpunet {

// Sizes of one pooling. x [channels, height, width], y [channels, out_height, out_width] per sample. The
// windows are square unless a width is given. Padding positions count as minus infinity.
struct Pool2dGeometry {
  index_t channels, height, width;
  index_t out_height, out_width;
  index_t kernel, stride, padding;
  index_t kernel_width = kernel, stride_width = stride, padding_width = padding;

  GPUNET_FN index_t in_features() const { return channels * height * width; }
  GPUNET_FN index_t out_features() const { return channels * out_height * out_width; }

  bool is_square() const { return kernel_width == kernel && stride_width == stride && padding_width == padding; }
  // Returns whether the windows are 2 x 2, do not overlap, and are in the image; pixels behind the last one are in none.
  bool has_two_by_two_windows() const {
    return is_square() && kernel == 2 && stride == 2 && padding == 0 && out_height == height / 2 &&
           out_width == width / 2;
  }
};

// The element of its window that an output came from: row * kernel_width + column.
using PoolChoice = std::uint16_t;

}  // namespace gpunet
