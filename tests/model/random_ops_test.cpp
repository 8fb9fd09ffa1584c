#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "docs/own_layers.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"

using namespace gpunet;

namespace {

using mine::Dropout;
using Masks = nn::Sequential<nn::Input<5, 7>, Dropout, Dropout>;
using Net = nn::Sequential<nn::Input<2, 8, 8>, nn::Conv2d<4, 3>, nn::ReLU, Dropout, nn::Flatten,
                           nn::Linear<32>, nn::ReLU, Dropout, nn::Linear<4>>;

// The outputs of two passes for inputs of 1: 0, or 1 / (1 - p) from each layer.
template <class T = float, class D>
std::vector<float> masks(D& device, index_t batch) {
  manual_seed(3);
  Model<Masks, D, T> net(device);
  Tensor<T, D> ones(device, {batch, 5, 7},
                    std::vector<T>(static_cast<std::size_t>(35 * batch), T{1}));
  std::vector<float> all;
  for (int pass = 0; pass < 2; ++pass)
    for (const T value : net(ones).to_vector())
      all.push_back(static_cast<float>(value));
  return all;
}

// The parameters after some steps.
template <class D>
std::vector<float> trained(D& device, bool whole_steps) {
  manual_seed(3);
  Model<Net, D> net(device);
  optim::SGD optimizer(net, {.lr = 0.1});
  nn::CrossEntropyLoss criterion;
  train::Step step(net, criterion, optimizer);
  Generator generator(4);
  const TestBatch<float, D> data(device, net.network(), 20, generator);
  for (int i = 0; i < 5; ++i)
    if (whole_steps)
      step(data.inputs, data.labels);
    else
      eager_step(net, criterion, optimizer, data);
#if GPUNET_CUDA
  if constexpr (std::is_same_v<D, Cuda>) CHECK(step.recording(20).recorded == whole_steps);
#endif
  return parameters_of(net);
}

}  // namespace

TEST_CASE_TEMPLATE(
    "random numbers of layers are the same on all devices and for any number of threads", D,
    GPUNET_TEST_DEVICES) {
  Host alone({.threads = 1}), four({.threads = 4});
  for (const index_t batch : {1, 3, 20, 100}) {
    const std::vector<float> expected = masks(alone, batch);
    CHECK(masks(test_device<D>(), batch) == expected);
    CHECK(masks(four, batch) == expected);
    CHECK(masks<double>(test_device<D>(), batch) == expected);
    index_t ones = 0;
    for (const float value : expected) {
      CHECK((value == 0 || value == 4));
      ones += value == 4;
    }
    if (batch == 100) CHECK(static_cast<double>(ones) / 7000 == doctest::Approx(0.25).epsilon(0.1));
  }
}

TEST_CASE_TEMPLATE("a network with random layers learns the same in whole steps, recorded ones too",
                   D, GPUNET_TEST_DEVICES) {
  CHECK(same_bits(trained(test_device<D>(), true), trained(test_device<D>(), false)));
}

TEST_CASE("a network with random layers learns the same with any number of threads") {
  Host alone({.threads = 1}), four({.threads = 4});
  CHECK(same_bits(trained(alone, true), trained(four, true)));
}

TEST_CASE_TEMPLATE("masks change from pass to pass in training mode only, and belong to the model",
                   D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> ones(device, {4, 5, 7}, std::vector<float>(140, 1.0f));
  manual_seed(3);
  Model<Masks, D> net(device);
  net(ones);
  auto copy = net.to(device);
  const std::vector<float> second = net(ones).to_vector();
  CHECK(copy(ones).to_vector() == second);
  manual_seed(3);
  Model<Masks, D> again(device), other(device);
  CHECK(again(ones).to_vector() != second);
  again.eval();
  CHECK(again(ones).to_vector() == std::vector<float>(140, 1.0f));
  again.train();
  CHECK(again(ones).to_vector() == second);
  CHECK(other(ones).to_vector() != second);
}

TEST_CASE("only a network with random layers takes a seed from the default generator") {
  Host& host = test_device<Host>();
  const auto next_after = [&](auto net) {
    manual_seed(3);
    const Model model(host, net);
    return default_generator().random();
  };
  using Plain = nn::Sequential<nn::Input<3>, nn::Linear<2>>;
  using Random = nn::Sequential<nn::Input<3>, Dropout, nn::Linear<2>>;
  CHECK(next_after(Plain{}) != next_after(Random{}));
  manual_seed(3);
  const Model<Plain, Host> plain(host);
  manual_seed(3);
  const Model<Random, Host> random(host);
  CHECK(parameters_of(plain) == parameters_of(random));
}
