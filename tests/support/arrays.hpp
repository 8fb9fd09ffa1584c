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

using gpunet::nn::random_values, gpunet::nn::relative_error, gpunet::nn::spread_values, gpunet::nn::to_rows,
    gpunet::nn::to_slice_order;

// Multiples of 1/8 between -modulus / 16 and modulus / 16, in an order that mixes them. Sums of their products are
// exact in float, whatever the order of the additions. tests/reference/*.py have the same function.
template <class T>
std::vector<T> pattern(gpunet::index_t n, gpunet::index_t step, gpunet::index_t start, gpunet::index_t modulus) {
  std::vector<T> values;
  for (gpunet::index_t i = 0; i < n; ++i)
    values.push_back(static_cast<T>((i * step + start) % modulus - modulus / 2) / T{8});
  return values;
}
