#include <doctest/doctest.h>
#include <vector>

#include <gpunet/ops/map.hpp>
#include <gpunet/tensor/tensor.hpp>

#include "support/devices.hpp"

using namespace gpunet;

namespace {

struct Square {
  GPUNET_FN float operator()(float x) const { return x * x; }
};
struct Difference {
  GPUNET_FN float operator()(float a, float b) const { return a - b; }
};

}  // namespace

TEST_CASE_TEMPLATE("map applies a function to every element", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> a(device, {4}, {1, -2, 3, 4}), b(device, {4}, {10, 20, 30, 40});
  Tensor<float, D> y(device, {4}, {0, 0, 0, -1});
  map(device, 3, Square{}, a.data(), y.data());
  CHECK(y.to_vector() == std::vector<float>{1, 4, 9, -1});
  map(device, 4, Difference{}, b.data(), a.data(), y.data());
  CHECK(y.to_vector() == std::vector<float>{9, 22, 27, 36});
}

TEST_CASE_TEMPLATE("map may write where it reads", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<float, D> y(device, {3}, {1, -2, 3});
  map(device, 3, Square{}, static_cast<const float*>(y.data()), y.data());
  CHECK(y.to_vector() == std::vector<float>{1, 4, 9});
}

TEST_CASE_TEMPLATE("fill", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Tensor<double, D> y(device, {3}, {1, 2, 3});
  fill(device, 2, 0.5, y.data());
  CHECK(y.to_vector() == std::vector<double>{0.5, 0.5, 3});
  fill(device, 0, 7.0, y.data());
  CHECK(y.to_vector() == std::vector<double>{0.5, 0.5, 3});
}
