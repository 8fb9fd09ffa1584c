#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/ops/classes.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

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
  CHECK(argmax(Tensor<float, D>(device, {2, 2}, {nan, 1, 1, nan}), 1).to_vector() == std::vector<label_t>{0, 1});
  CHECK(argmax(Tensor<float, D>(device, {3}, {1, 2, 3}), 0).item() == 2);
  CHECK(argmax(Tensor<float, D>(device, {0, 3}), 1).sizes() == Sizes{0});
  CHECK(error_of([&] { argmax(x, 2); }) == "gpunet::argmax: dimension 2 of the shape [2, 3] (want -2 to 1)");
  const Tensor<float, Host> number(test_device<Host>(), {}, std::vector<float>{1});
  CHECK(error_of([&] { argmax(number, 0); }) == "gpunet::argmax: dimension 0 of a shape without dimensions");
  CHECK(contains(error_of([&] { softmax(x, -3); }), "gpunet::softmax: dimension -3"));
  CHECK(contains(error_of([&] { argmax(Tensor<float, D>(device, {2, 0}), 1); }), "nothing along dimension 1"));
}

TEST_CASE_TEMPLATE("softmax is taken along any dimension", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Sizes& sizes : {Sizes{5}, Sizes{4, 3}, Sizes{2, 5, 16}, Sizes{3, 2, 2, 2}}) {
    Generator generator(1);
    const std::vector<float> values = random_values<float>(sizes.numel(), generator, -3, 3);
    const Tensor<float, D> x(device, sizes, values);
    for (int dim = 0; dim < sizes.rank(); ++dim) {
      CAPTURE(to_string(sizes));
      CAPTURE(dim);
      index_t inner = 1;
      for (int i = dim + 1; i < sizes.rank(); ++i)
        inner *= sizes[i];
      const Tensor<float, D> result = softmax(x, dim);
      CHECK(result.sizes() == sizes);
      const std::vector<float> y = result.to_vector();
      for (index_t i = 0; i < sizes.numel(); ++i) {
        const index_t first = i / (inner * sizes[dim]) * inner * sizes[dim] + i % inner;
        double sum = 0;
        for (index_t k = 0; k < sizes[dim]; ++k)
          sum += std::exp(static_cast<double>(values[static_cast<std::size_t>(first + k * inner)]));
        const double expected = std::exp(static_cast<double>(values[static_cast<std::size_t>(i)])) / sum;
        // Roundings of x - max x (a difference below 6), of exp and its sum, and of the division.
        CHECK(std::abs(y[static_cast<std::size_t>(i)] / expected - 1) < (6 + 4 + 16 + 1) * 0x1p-24);
      }
    }
  }
  CHECK(softmax(Tensor<float, D>(device, {0, 3}), 1).numel() == 0);
}
