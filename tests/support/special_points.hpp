// What PyTorch makes of special points: reference/special_points.py.
#pragma once

#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "support/reference_file.hpp"

// Returns an array of the file for numbers of type T.
template <class T>
std::vector<T> special_reference(const std::string& name) {
  static const ReferenceFile file("special_points");
  return file.values<T>((std::is_same_v<T, float> ? "float." : "double.") + name);
}

// How close numbers must come: relatively, and below `smallest` not at all.
template <class T>
struct SpecialTolerance {
  double relative = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  // Subnormal numbers count as 0.
  double smallest = 1e3 * static_cast<double>(std::numeric_limits<T>::min());
  std::function<bool(double)> skips = nullptr;  // rows with such an input are left out
};

// Whether a number is PyTorch's: NaN and infinity are equal to themselves alone.
template <class T>
bool is_special_number(T got, T want, const SpecialTolerance<T>& tolerance) {
  if (!std::isfinite(got) || !std::isfinite(want))
    return (std::isnan(got) && std::isnan(want)) || got == want;
  const double a = static_cast<double>(got), b = static_cast<double>(want);
  return std::fabs(a - b) <= tolerance.relative * std::fabs(b) + tolerance.smallest;
}

// Compares results of rows of inputs with those of the file; a failure lists the inputs of all that
// differ.
template <class T>
void check_special(const std::string& name, const std::vector<T>& got,
                   const std::vector<std::vector<T>>& inputs, std::size_t rows,
                   const SpecialTolerance<T>& tolerance = {}) {
  const std::vector<T> want = special_reference<T>(name);
  REQUIRE(got.size() == want.size());
  std::string wrong;
  const auto text = [](T x) {
    return gpunet::concat(static_cast<double>(x));
  };
  const auto leaves_out = [&](std::size_t i) {
    for (const std::vector<T>& input : inputs) {
      const std::size_t per = input.size() / rows, first = i * rows / got.size() * per;
      for (std::size_t k = first; tolerance.skips && k < first + per; ++k)
        if (tolerance.skips(static_cast<double>(input[k]))) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (is_special_number(got[i], want[i], tolerance) || leaves_out(i)) continue;
    wrong += "\n  [" + std::to_string(i) + "] of";
    for (const std::vector<T>& input : inputs) {
      const std::size_t row = got.size() <= input.size() ? input.size() / got.size() : 1;
      for (std::size_t k = 0; k < row; ++k)
        wrong += " " + text(input[i * row % input.size() + k]);
      wrong += ";";
    }
    wrong += " " + text(got[i]) + ", PyTorch " + text(want[i]);
  }
  const std::string title = (std::is_same_v<T, float> ? "float " : "double ") + name;
  CHECK_MESSAGE(wrong.empty(), title << wrong);
}
