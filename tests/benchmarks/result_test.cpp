#include "../../benchmarks/result.hpp"

#include <doctest/doctest.h>

#include <gpunet/nn/conv2d.hpp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/relu.hpp>

using namespace bench;

namespace {

Result example() {
  Result r;
  r.job = "job";
  r.cost = {2e9, 1e6};
  r.ours.ms = 20;
  r.pytorch.ms = 50;
  r.peak_gflops = 200;    // 10 ms
  r.copy_gigabytes = 10;  // 0.1 ms
  return r;
}

}  // namespace

TEST_CASE("the median") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(median({7}) == 7);
  CHECK(std::isnan(median({})));
}

TEST_CASE("ratio, and the share of the nearer limit") {
  Result r = example();
  CHECK(r.ratio() == doctest::Approx(2.5));
  CHECK(r.limit_share() == doctest::Approx(0.5));
  CHECK(r.limit() == std::string("compute"));
  r.cost.bytes = 150e6;  // 15 ms
  CHECK(r.limit_share() == doctest::Approx(0.75));
  CHECK(r.limit() == std::string("memory"));
}

TEST_CASE("without an opponent there is no ratio and no difference") {
  Result r = example();
  r.pytorch = {};
  r.ours.value = 1;
  CHECK(std::isnan(r.ratio()));
  CHECK_FALSE(r.values_differ());
}

TEST_CASE("sides that compute something else are found") {
  Result r = example();
  r.ours.value = 2.3001, r.pytorch.value = 2.3000;
  CHECK_FALSE(r.values_differ());
  r.ours.value = 2.31;
  CHECK(r.values_differ());
  r.ours.value = unknown;  // a loss that is not finite
  CHECK(r.values_differ());
}

TEST_CASE("the cost of a network") {
  namespace nn = gpunet::nn;
  // 5 x 5 windows of 2 x 3 x 3 weights for 4 channels; 100 inputs to 10 outputs.
  const nn::Sequential<nn::Input<2, 7, 7>, nn::Conv2d<4, 3>, nn::ReLU, nn::Flatten, nn::Linear<10>> net;
  const double conv = 25 * 18 * 4, linear = 100 * 10, parameters = 72 + 4 + 1000 + 10;
  CHECK(cost_of_inference(net, 1).operations == 2 * (conv + linear));
  CHECK(cost_of_inference(net, 1).bytes == 4 * (98 + 10 + parameters));
  CHECK(cost_of_training(net, 8, 1).operations == 2 * 8 * (2 * conv + 3 * linear));
  CHECK(cost_of_training(net, 8, 1).bytes == 4 * (8 * 98 + 4 * parameters));
  CHECK(cost_of_product(10).operations == 2000);
}
