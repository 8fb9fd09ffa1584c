// Numbers for tests: generators, order in a slice, and distance between arrays.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/nn/gradient_check.hpp>
#include <gpunet/ops/slice.hpp>

using gpunet::nn::random_values, gpunet::nn::relative_error, gpunet::nn::spread_values,
    gpunet::nn::to_rows, gpunet::nn::to_slice_order;

// Multiples of 1/8 between -modulus / 16 and modulus / 16, in an order that mixes them. Sums of
// their products are exact in float, whatever the order of the additions. tests/reference/*.py have
// the same function.
template <class T>
std::vector<T> pattern(gpunet::index_t n, gpunet::index_t step, gpunet::index_t start,
                       gpunet::index_t modulus) {
  std::vector<T> values;
  for (gpunet::index_t i = 0; i < n; ++i)
    values.push_back(static_cast<T>((i * step + start) % modulus - modulus / 2) / T{8});
  return values;
}

// Numbers of pattern() that are no multiples any more, no two neighbors alike; as in
// reference/values.py.
inline std::vector<double> mixed_numbers(gpunet::index_t n, gpunet::index_t step,
                                         gpunet::index_t start, gpunet::index_t modulus) {
  std::vector<double> values = pattern<double>(n, step, start, modulus);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += 0.013 * static_cast<double>(i % 7 + 1);
  return values;
}
