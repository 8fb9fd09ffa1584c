// 1 / sqrt(variance + eps), of all normalizations.
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/core/math.hpp>

namespace gpunet {

namespace detail {
inline constexpr double no_deviation = std::numeric_limits<double>::quiet_NaN();
}

// Returns 1 / sqrt(variance + eps) for numbers of type T: 0 for a row of equal elements and eps 0,
// so that padding samples stay finite; NaN if T does not have the variance, so that an overflow
// does not look like a row of zeros.
template <class T>
GPUNET_FN double inverse_deviation(double variance, double eps) {
  if (!(variance <= static_cast<double>(detail::largest<T>))) return detail::no_deviation;
  return variance + eps > 0 ? 1 / std::sqrt(variance + eps) : 0.0;
}

}  // namespace gpunet
