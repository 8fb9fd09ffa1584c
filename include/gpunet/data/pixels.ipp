// Bodies of pixels.hpp.
#pragma once

#include <algorithm>

#include <gpunet/data/pixels.hpp>

namespace gpunet::data {

GPUNET_INLINE void ByteImage::copy_to(std::uint8_t* to) const {
  if (is_planar()) {
    std::copy_n(bytes, sizes.numel(), to);
    return;
  }
  for (index_t c = 0; c < sizes.channels; ++c)
    for (index_t i = 0; i < sizes.pixels(); ++i)
      *to++ = bytes[c * channel_step + i * pixel_step];
}

}  // namespace gpunet::data
