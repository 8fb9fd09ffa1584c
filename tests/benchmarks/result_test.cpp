#include "../../benchmarks/result.hpp"

#include <doctest/doctest.h>

#include <gpunet/nn/batch_norm.hpp>
#include <gpunet/nn/conv2d.hpp>
#include <gpunet/nn/embedding.hpp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/multihead_attention.hpp>
#include <gpunet/nn/recurrent.hpp>
#include <gpunet/nn/relu.hpp>
#include <gpunet/nn/sequential.hpp>

using namespace bench;
namespace nn = gpunet::nn;

namespace {

Result example() {
  Result r;
  r.job = "job";
  r.cost = {2e9, 1e6};
  r.ours.ms = 20;
  r.pytorch.ms = 50;
  r.onnx.ms = 30;
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
  CHECK(r.onnx_ratio() == doctest::Approx(1.5));
  CHECK(r.limit_share() == doctest::Approx(0.5));
  CHECK(r.limit() == std::string("compute"));
  r.cost.bytes = 150e6;  // 15 ms
  CHECK(r.limit_share() == doctest::Approx(0.75));
  CHECK(r.limit() == std::string("memory"));
}

TEST_CASE("without an opponent there is no ratio and no difference") {
  Result r = example();
  r.pytorch = r.onnx = {};
  r.ours.value = 1;
  CHECK(std::isnan(r.ratio()));
  CHECK_FALSE(r.values_differ());
}

TEST_CASE("sides that compute something else are found") {
  Result r = example();
  r.ours.value = 2.3001, r.pytorch.value = r.onnx.value = 2.3000;
  CHECK_FALSE(r.values_differ());
  r.onnx.value = 2.31;
  CHECK(r.values_differ());
  r.onnx = {};
  r.ours.value = 2.31;
  CHECK(r.values_differ());
  r.ours.value = unknown;  // a loss that is not finite
  CHECK(r.values_differ());
}

TEST_CASE("the cost of a network") {
  // 5 x 5 windows of 2 x 3 x 3 weights for 4 channels; 100 inputs to 10 outputs.
  const nn::Sequential<nn::Input<2, 7, 7>, nn::Conv2d<4, 3>, nn::ReLU, nn::Flatten, nn::Linear<10>>
      net;
  const gpunet::Graph graph = nn::lower<void, void>(net);
  const double conv = 25 * 18 * 4, linear = 100 * 10, parameters = 72 + 4 + 1000 + 10;
  CHECK(cost_of_inference(graph, 1).operations == 2 * (conv + linear));
  CHECK(cost_of_inference(graph, 1).bytes == 4 * (98 + 10 + parameters));
  CHECK(cost_of_training(graph, 8, 1).operations == 2 * 8 * (2 * conv + 3 * linear));
  CHECK(cost_of_training(graph, 8, 1).bytes == 4 * (8 * 98 + 4 * parameters));
  CHECK(cost_of_product(10).operations == 2000);
}

TEST_CASE("normalization and embeddings are no operations, each step of an LSTM is") {
  const nn::Sequential<nn::Input<3, 5, 5>, nn::BatchNorm2d, nn::Conv2d<4, 3, nn::Bias<false>>>
      normalized;
  CHECK(cost_of_inference(nn::lower<void, void>(normalized), 1).operations == 2 * 9 * 27 * 4);

  // 6 characters of 5; 4 gates of 7 cells, which read a character's 3 numbers and the 7 states.
  const nn::Sequential<nn::Input<6>, nn::Embedding<5, 3>, nn::LSTM<7>> sequences;
  const gpunet::Graph graph = nn::lower<void, void>(sequences);
  const double lstm = 6 * 4 * 7 * (3 + 7), parameters = 5 * 3 + 4 * 7 * (3 + 7 + 2);
  CHECK(cost_of_inference(graph, 1).operations == 2 * lstm);
  CHECK(cost_of_training(graph, 1, 2).operations == 2 * 3 * lstm);  // of the embedding too
  CHECK(cost_of_training(graph, 1, 2).bytes == 4 * (6 + 6 * parameters));
}

TEST_CASE("attention multiplies all queries with all keys, and the results with the values") {
  const nn::Sequential<nn::Input<6, 8>, nn::MultiheadAttention<2>> net;
  CHECK(cost_of_inference(nn::lower<void, void>(net), 1).operations ==
        2 * (6 * 4 * 8 * 8 + 2 * 6 * 6 * 8));
}
