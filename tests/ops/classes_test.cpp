#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/ops/classes.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/isas.hpp"

using namespace gpunet;

namespace {

// Compares with exponentials in double. Elements are between -3 and 3.
template <class D>
void check_softmax(const Tensor<float, D>& softmax, const Tensor<float, D>& logarithm,
                   const std::vector<float>& values, index_t length, index_t inner) {
  const std::vector<float> y = softmax.to_vector(), log_y = logarithm.to_vector();
  double largest_error = 0, largest_difference = 0;
  for (index_t i = 0; i < softmax.numel(); ++i) {
    const index_t first = i / (inner * length) * inner * length + i % inner;
    double sum = 0;
    for (index_t k = 0; k < length; ++k)
      sum += std::exp(static_cast<double>(values[static_cast<std::size_t>(first + k * inner)]));
    const auto at = static_cast<std::size_t>(i);
    const double expected = std::exp(static_cast<double>(values[at])) / sum;
    largest_error = std::max(largest_error, std::abs(y[at] / expected - 1));
    largest_difference = std::max(largest_difference, std::abs(log_y[at] - std::log(expected)));
  }
  // Roundings of x - max x (a difference below 6), of exp and its sum, and of the division; or of
  // the logarithm of the sum (below 8) and two differences (below 16).
  CHECK(largest_error < (6 + 4 + 16 + 1) * 0x1p-24);
  CHECK(largest_difference < (6 + 4 + 16 + 8 + 2 * 8) * 0x1p-24);
}

}  // namespace

TEST_CASE_TEMPLATE("argmax is taken along any dimension", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x(device, {2, 3}, {1, 5, 5, 4, -1, 3});
  CHECK(argmax(x, 1).to_vector() == std::vector<label_t>{1, 0});
  CHECK(argmax(x, -1).sizes() == Sizes{2});
  CHECK(argmax(x, 0).to_vector() == std::vector<label_t>{1, 0, 0});
  CHECK(argmax(x, -2).to_vector() == argmax(x, 0).to_vector());
  const Tensor<double, D> cube(device, {2, 2, 2}, {0, 1, 2, -1, 5, 4, 3, 9});
  CHECK(argmax(cube, 1).sizes() == Sizes{2, 2});
  CHECK(argmax(cube, 1).to_vector() == std::vector<label_t>{1, 0, 0, 1});
  const float nan = std::nanf("");
  CHECK(argmax(Tensor<float, D>(device, {2, 3}, {1, nan, 2, 3, nan, nan}), 1).to_vector() ==
        std::vector<label_t>{1, 1});
  CHECK(argmax(Tensor<float, D>(device, {2, 2}, {nan, 1, 1, nan}), 1).to_vector() ==
        std::vector<label_t>{0, 1});
  CHECK(argmax(Tensor<float, D>(device, {3}, {1, 2, 3}), 0).item() == 2);
  CHECK(argmax(Tensor<float, D>(device, {0, 3}), 1).sizes() == Sizes{0});
  CHECK(error_of([&] { argmax(x, 2); }) ==
        "gpunet::argmax: dimension 2 of a tensor with 2 dimensions (want -2 to 1)");
  const Tensor<float, Host> number(test_device<Host>(), {}, std::vector<float>{1});
  CHECK(argmax(number, 0).item() == 0);
  CHECK(error_of([&] { argmax(number, 1); }) ==
        "gpunet::argmax: dimension 1 of a tensor without dimensions, reshape it");
  CHECK(contains(error_of([&] { softmax(x, -3); }), "gpunet::softmax: dimension -3"));
  CHECK(contains(error_of([&] {
                   argmax(Tensor<float, D>(device, {2, 0}), 1);
                 }),
                 "gpunet::argmax: a tensor of shape [2, 0] has no elements to reduce"));
}

TEST_CASE_TEMPLATE("the best of rows of any length is the first of equal ones", D,
                   GPUNET_TEST_DEVICES) {
  const KeepIsa keep;
  D& device = test_device<D>();
  for (const Sizes& sizes : {Sizes{3, 15}, Sizes{2, 16}, Sizes{2, 37}, Sizes{1, 1000},
                             Sizes{2, 5, 16}, Sizes{2, 3, 37}, Sizes{3, 4, 15}}) {
    CAPTURE(to_string(sizes));
    Generator generator(1);
    std::vector<float> values = random_values<float>(sizes.numel(), generator, -2, 2);
    for (float& value : values)
      value = value < -1.98f ? std::nanf("") : std::round(4 * value);
    const Tensor<float, D> x(device, sizes, values);
    std::vector<std::int32_t> whole;
    for (const float value : values)
      whole.push_back(value != value ? std::numeric_limits<std::int32_t>::min()
                                     : static_cast<std::int32_t>(value));
    const Tensor<std::int32_t, D> n(device, sizes, whole);
    const index_t length = sizes[1], inner = sizes.rank() == 3 ? sizes[2] : 1;
    std::vector<label_t> largest, smallest, largest_number, smallest_number;
    for (index_t i = 0; i < sizes.numel() / length; ++i) {
      const auto at = [&](index_t r) {
        return static_cast<std::size_t>((i / inner * length + r) * inner + i % inner);
      };
      index_t most = 0, least = 0, most_number = 0, least_number = 0;
      for (index_t r = 1; r < length; ++r) {
        const float value = values[at(r)];
        if (!std::isnan(values[at(most)]) && !(value <= values[at(most)])) most = r;
        if (!std::isnan(values[at(least)]) && !(value >= values[at(least)])) least = r;
        if (whole[at(r)] > whole[at(most_number)]) most_number = r;
        if (whole[at(r)] < whole[at(least_number)]) least_number = r;
      }
      largest.push_back(static_cast<label_t>(most)),
          smallest.push_back(static_cast<label_t>(least));
      largest_number.push_back(static_cast<label_t>(most_number));
      smallest_number.push_back(static_cast<label_t>(least_number));
    }
    for (const Isa path : isas()) {
      set_isa(path);
      CHECK(argmax(x, 1).to_vector() == largest);
      CHECK(argmin(x, 1).to_vector() == smallest);
      CHECK(argmax(n, 1).to_vector() == largest_number);
      CHECK(argmin(n, 1).to_vector() == smallest_number);
    }
  }
}

TEST_CASE_TEMPLATE("softmax is taken along any dimension", D, GPUNET_TEST_DEVICES) {
  const KeepIsa keep;
  D& device = test_device<D>();
  for (const Sizes& sizes : {Sizes{5}, Sizes{4, 3}, Sizes{2, 5, 16}, Sizes{3, 2, 2, 2},
                             Sizes{37, 7}, Sizes{3, 20, 19}, Sizes{600, 64}}) {
    Generator generator(1);
    const std::vector<float> values = random_values<float>(sizes.numel(), generator, -3, 3);
    const Tensor<float, D> x(device, sizes, values);
    for (int dim = 0; dim < sizes.rank(); ++dim) {
      CAPTURE(to_string(sizes));
      CAPTURE(dim);
      index_t inner = 1;
      for (int i = dim + 1; i < sizes.rank(); ++i)
        inner *= sizes[i];
      for (const Isa path : isas()) {
        set_isa(path);
        check_softmax(softmax(x, dim), log_softmax(x, dim), values, sizes[dim], inner);
      }
    }
  }
  CHECK(softmax(Tensor<float, D>(device, {0, 3}), 1).numel() == 0);
}
