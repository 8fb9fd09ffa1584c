// The sizes of a pooling.
#pragma once

#include <cstdint>

#include <gpunet/core/config.hpp>

namespace gpunet {

// Sizes of one pooling. x [channels, height, width], y [channels, out_height, out_width] per
// sample. The windows are square unless a width is given. Padding positions count as minus
// infinity.
struct Pool2dGeometry {
  index_t channels, height, width;
  index_t out_height, out_width;
  index_t kernel, stride, padding;
  index_t kernel_width = kernel, stride_width = stride, padding_width = padding;

  GPUNET_FN index_t in_features() const { return channels * height * width; }
  GPUNET_FN index_t out_features() const { return channels * out_height * out_width; }

  bool is_square() const {
    return kernel_width == kernel && stride_width == stride && padding_width == padding;
  }
  // Returns whether the windows are 2 x 2, do not overlap, and are in the image; pixels behind the
  // last one are in none.
  bool has_two_by_two_windows() const {
    return is_square() && kernel == 2 && stride == 2 && padding == 0 && out_height == height / 2 &&
           out_width == width / 2;
  }
};

// The part of a window that lies in the image, and the place of its first element in the whole
// window.
struct ClippedWindow {
  index_t top, left, rows, columns;
  index_t first_place;
};

// Returns the window of an output.
GPUNET_FN inline ClippedWindow clipped_window(const Pool2dGeometry& g, index_t row,
                                              index_t column) {
  const index_t top = row * g.stride - g.padding, left = column * g.stride_width - g.padding_width;
  const index_t bottom = top + g.kernel, right = left + g.kernel_width;
  const index_t above = top < 0 ? -top : 0, before = left < 0 ? -left : 0;
  return {top + above, left + before, (bottom < g.height ? bottom : g.height) - top - above,
          (right < g.width ? right : g.width) - left - before, above * g.kernel_width + before};
}

// The element of its window that an output came from: row * kernel_width + column.
using PoolChoice = std::uint16_t;

}  // namespace gpunet
