// Bodies of gather_samples.hpp.
#pragma once

#include <gpunet/ops/gather_samples.hpp>

namespace gpunet {

GPUNET_INLINE void look_up_bytes(const float* table, index_t channels, const std::uint8_t* bytes,
                                 index_t pixels, float* floats) {
  for (const float* end = table + channels * 256; table != end; table += 256) {
    index_t i = 0;
    for (; i + 4 <= pixels; i += 4, bytes += 4, floats += 4) {  // a third faster than one at a time
      const float a = table[bytes[0]], b = table[bytes[1]], c = table[bytes[2]],
                  d = table[bytes[3]];
      floats[0] = a, floats[1] = b, floats[2] = c, floats[3] = d;
    }
    for (; i < pixels; ++i)
      *floats++ = table[*bytes++];
  }
}

}  // namespace gpunet
