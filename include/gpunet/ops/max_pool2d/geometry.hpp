// The sizes of a pooling.
#pragma once

#include <cstdint>

#include <gpunet/core/config.hpp>

namespace gpunet {

// Sizes of one pooling. x [channels, height, width], y [channels, out_height, out_width] per sample; square
// windows. Padding positions count as minus infinity.
struct Pool2dGeometry {
  index_t channels, height, width;
  index_t out_height, out_width;
  index_t kernel, stride, padding;

  GPUNET_FN index_t in_features() const { return channels * height * width; }
  GPUNET_FN index_t out_features() const { return channels * out_height * out_width; }
};

// The element of its window that an output came from: row * kernel + column.
using PoolChoice = std::uint16_t;

}  // namespace gpunet
