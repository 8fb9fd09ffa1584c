// Numbers as Python prints them.
#pragma once

#include <charconv>
#include <cmath>
#include <string>

namespace gpunet {

// repr(value) of a finite float: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e16
// on, else with a point.
inline std::string python_repr(double value) {
  const double size = std::abs(value);
  const bool exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  char digits[64];
  const auto format = exponent ? std::chars_format::scientific : std::chars_format::fixed;
  std::string out(digits, std::to_chars(digits, digits + sizeof digits, value, format).ptr);
  if (!exponent && out.find('.') == std::string::npos) out += ".0";
  return out;
}

}  // namespace gpunet
