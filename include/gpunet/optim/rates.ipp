// Bodies of rates.hpp.
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/optim/rates.hpp>

namespace gpunet::optim {

GPUNET_INLINE void require_option(const char* name, const char* what, double value) {
  require_option(value >= 0 && std::isfinite(value), name, what, value, "0 or more, and finite");
  require_option(value <= double{std::numeric_limits<float>::max()}, name, what, value,
                 "less than 3.4e38, as a float is");
}

}  // namespace gpunet::optim
