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

GPUNET_INLINE void Rates::check_betas(const std::array<double, 2>& betas) const {
  for (std::size_t i = 0; i < betas.size(); ++i)
    require(betas[i] >= 0 && betas[i] < 1, "gpunet::optim::", name_, ": invalid beta parameter at index ", i, ": ",
            betas[i], " (want 0 or more and less than 1)");
}

}  // namespace gpunet::optim
