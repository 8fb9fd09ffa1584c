// Bodies of python_number.hpp.
#pragma once

#include <charconv>
#include <cmath>

#include <gpunet/core/python_number.hpp>

namespace gpunet {

GPUNET_INLINE std::string python_repr(double value) {
  const double size = std::abs(value);
  const bool exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  char digits[64];
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  std::string out(digits, std::to_chars(digits, digits + sizeof digits, value, format).ptr);
  if (!exponent && out.find('.') == std::string::npos) out += ".0";
  return out;
}

}  // namespace gpunet
