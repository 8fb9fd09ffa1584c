#include <doctest/doctest.h>
#include <vector>

#include <gpunet/ops/mean.hpp>
#include <gpunet/tensor/tensor.hpp>

#include "reference/mean_loss.hpp"
#include "support/devices.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("the mean of an array", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (index_t n : {1, 2, 16, 17, 1000}) {
    std::vector<double> values;
    for (index_t i = 0; i < n; ++i)
      values.push_back(static_cast<double>(i));
    const Tensor<double, D> x(device, {n}, values);
    Tensor<double, D> result(device, {2}, {-1, -1});
    mean(device, n, x.data(), result.data());
    CHECK(result.to_vector() == std::vector<double>{static_cast<double>(n - 1) / 2, -1});
  }
}

TEST_CASE("the mean of losses on Host is PyTorch's, to the last bit") {
  for (const reference::MeanLoss& expected : reference::mean_losses) {
    std::vector<float> losses;
    for (int i = 1; i <= expected.n; ++i)
      losses.push_back(1.0f / static_cast<float>(i));
    float result = 0;
    mean(test_device<Host>(), expected.n, losses.data(), &result);
    CAPTURE(expected.n);
    CHECK(result == expected.mean);
  }
}
