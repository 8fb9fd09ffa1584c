#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/ops/relu.hpp>
#include <gpunet/tensor/buffer.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("negative numbers become zero, and let no gradient through", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::vector<float> values{-1, 0, 2, std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity()};
  const std::vector<float> gradients{1, 2, 3, 4, 5};
  Buffer<float, D> x(device, 5), dy(device, 5);
  device.upload(x.data(), values.data(), x.bytes());
  device.upload(dy.data(), gradients.data(), dy.bytes());
  rectify(device, 5, x.data(), x.data());
  rectify_gradient(device, 5, x.data(), dy.data(), dy.data());
  std::vector<float> y(5), dx(5);
  device.download(y.data(), x.data(), x.bytes());
  device.download(dx.data(), dy.data(), dy.bytes());
  CHECK(y == std::vector<float>{0, 0, 2, std::numeric_limits<float>::infinity(), 0});
  CHECK(dx == std::vector<float>{0, 0, 3, 4, 0});
}

TEST_CASE("what an op does to its result") {
  CHECK(Activate{Activation::none}(-2.0) == -2);
  CHECK(Activate{Activation::relu}(-2.0) == 0);
  CHECK(Activate{Activation::relu}(2.0) == 2);
}

TEST_CASE("a NaN stays one") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(Rectify{}(nan)));
  CHECK(std::isnan(Activate{Activation::relu}(nan)));
  CHECK(RectifyGradient{}(nan, 3.0f) == 3.0f);
}
