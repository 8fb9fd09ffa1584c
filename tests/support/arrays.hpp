// Numbers for tests: where they come from, how they lie in a slice, how far two sets of them are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/ops/slice.hpp>

// Multiples of 1/8 between -modulus / 16 and modulus / 16, in an order that mixes them. Sums of their products are
// exact in float, whatever the order of the additions. tests/reference/*.py have the same function.
template <class T>
std::vector<T> pattern(gpunet::index_t n, gpunet::index_t step, gpunet::index_t start, gpunet::index_t modulus) {
  std::vector<T> values;
  for (gpunet::index_t i = 0; i < n; ++i)
    values.push_back(static_cast<T>((i * step + start) % modulus - modulus / 2) / T{8});
  return values;
}

// n numbers between low and high.
template <class T>
std::vector<T> random_values(gpunet::index_t n, gpunet::Generator& generator, T low = T{-1}, T high = T{1}) {
  std::vector<T> values;
  for (gpunet::index_t i = 0; i < n; ++i)
    values.push_back(generator.uniform(low, high));
  return values;
}

// n different numbers between -2 and 2 in random order: evenly apart, and none near 0, so that a small change of
// one crosses no kink of a maximum or a rectifier.
inline std::vector<double> spread_values(gpunet::index_t n, gpunet::Generator& generator) {
  std::vector<double> values;
  for (gpunet::index_t i : gpunet::randperm(n, generator))
    values.push_back(-2 + (static_cast<double>(i) + 0.25) * 4 / static_cast<double>(n));
  return values;
}

// rows [count, features] in the order of a slice, padding samples zero. On purpose not by ops/interleave.hpp.
template <class T>
std::vector<T> to_slice_order(const gpunet::Slice& slice, gpunet::index_t features, const std::vector<T>& rows) {
  std::vector<T> data(static_cast<std::size_t>(slice.samples() * features), T{});
  for (gpunet::index_t n = 0; n < slice.count; ++n)
    for (gpunet::index_t k = 0; k < features; ++k)
      data.data()[(n / slice.inner * features + k) * slice.inner + n % slice.inner] = rows.data()[n * features + k];
  return data;
}

// The real samples of a slice as rows [count, features].
template <class T>
std::vector<T> to_rows(const gpunet::Slice& slice, gpunet::index_t features, const T* data) {
  std::vector<T> rows;
  for (gpunet::index_t n = 0; n < slice.count; ++n)
    for (gpunet::index_t k = 0; k < features; ++k)
      rows.push_back(data[(n / slice.inner * features + k) * slice.inner + n % slice.inner]);
  return rows;
}

// How far a and b are apart relative to the larger one: in the Euclidean norm or in the maximum norm, whichever is
// worse. 0 for equal ones, not a number if one of them holds what is not a number or they differ in size.
template <class A, class B>
double relative_error(const std::vector<A>& a, const std::vector<B>& b) {
  if (a.size() != b.size()) return std::nan("");
  double squares_a = 0, squares_b = 0, squares = 0, most_a = 0, most_b = 0, most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    squares_a += x * x;
    squares_b += y * y;
    squares += (x - y) * (x - y);
    most_a = std::max(most_a, std::abs(x));
    most_b = std::max(most_b, std::abs(y));
    most = std::max(most, std::abs(x - y));
  }
  if (squares == 0) return 0;
  const double euclidean = std::sqrt(squares / std::max(squares_a, squares_b));  // NaN where a or b holds one
  const double maximum = most / std::max(most_a, most_b);
  return maximum > euclidean ? maximum : euclidean;
}
