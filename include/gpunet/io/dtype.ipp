// Bodies of dtype.hpp.
#pragma once

#include <gpunet/io/dtype.hpp>

namespace gpunet::io {

namespace detail {

GPUNET_INLINE float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3FFu;
  if (exponent == 0) {  // zero, or fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112;  // infinity and NaN, or a bias of 127
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace detail

GPUNET_INLINE std::optional<Dtype> dtype_from(std::string_view name) {
  for (std::size_t i = 0; i < detail::dtypes.size(); ++i)
    if (detail::dtypes[i].name == name) return static_cast<Dtype>(i);
  return std::nullopt;
}

}  // namespace gpunet::io
