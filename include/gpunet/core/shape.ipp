// Bodies of shape.hpp.
#pragma once

#include <gpunet/core/shape.hpp>

namespace gpunet {

GPUNET_INLINE std::string to_string(const Sizes& sizes) {
  std::string out = "[";
  for (int i = 0; i < sizes.rank(); ++i)
    out += concat(i ? ", " : "", sizes[i]);
  return out + "]";
}

}  // namespace gpunet
