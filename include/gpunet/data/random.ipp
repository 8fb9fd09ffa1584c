// Bodies of random.hpp.
#pragma once

#include <gpunet/data/random.hpp>

namespace gpunet::data {

GPUNET_INLINE Random any_random() {
  const auto lock = default_generator().lock();
  return Random(default_generator().random64());
}

}  // namespace gpunet::data
