#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "io/temp_folder.hpp"
#include "support/check_gradients.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

constexpr index_t samples = 17;

std::vector<double> doubles(const auto& values) {
  return {values.begin(), values.end()};
}

// The outputs and input gradients in training mode for x = 1 and dy = 1: the factors of the mask.
template <class T, class D, class L, class In>
std::vector<double> factors(D& device, const L& layer, In in, const Slice& slice) {
  LayerRun<T, D> run(device, layer, in, slice);
  const std::vector<T> ones(static_cast<std::size_t>(slice.count * run.in_features()), T{1});
  const std::vector<T> y = run.forward(ones);
  const nn::LayerGradients<T> gradients = run.backward(ones);
  CHECK(gradients.dx == y);
  CHECK(gradients.padding == std::vector<T>(gradients.padding.size()));
  return doubles(y);
}

// The first samples of a larger batch.
std::vector<double> first(const std::vector<double>& rows, index_t count, index_t features) {
  return {rows.begin(), rows.begin() + count * features};
}

// The outputs of two passes of a model in training mode for inputs of 1.
template <class T, class D, class L>
std::vector<double> outputs(D& device, const L& layer, index_t batch) {
  manual_seed(3);
  const nn::Sequential layers(nn::Input<5, 2, 3>{}, layer, layer);
  Model<std::remove_const_t<decltype(layers)>, D, T> net(device, layers);
  const Tensor<T, D> ones(device, {batch, 5, 2, 3},
                          std::vector<T>(static_cast<std::size_t>(30 * batch), T{1}));
  std::vector<double> all;
  for (int pass = 0; pass < 2; ++pass)
    for (const T value : net(ones).to_vector())
      all.push_back(static_cast<double>(value));
  return all;
}

template <class D, class L>
void check_same_masks(D& device, const L& layer) {
  Host alone({.threads = 1}), two({.threads = 2}), four({.threads = 4});
  const std::vector<double> most = outputs<double>(alone, layer, samples);
  for (const index_t batch : {1, 4, 17}) {
    const std::vector<double> expected = outputs<float>(alone, layer, batch);
    CHECK(outputs<float>(two, layer, batch) == expected);
    CHECK(outputs<float>(four, layer, batch) == expected);
    CHECK(outputs<float>(device, layer, batch) == expected);
    CHECK(outputs<double>(device, layer, batch) == expected);
    CHECK(first(most, batch, 30) == first(expected, batch, 30));
    CHECK(first(expected, batch, 30) !=
          std::vector<double>(expected.begin() + batch * 30, expected.end()));
  }
}

using Net =
    nn::Sequential<nn::Input<2, 8, 8>, nn::Conv2d<4, 3>, nn::ReLU, nn::Dropout2d, nn::Flatten,
                   nn::Dropout, nn::Linear<32>, nn::ReLU, nn::Dropout, nn::Linear<4>>;

// The parameters after some steps.
template <class D>
std::vector<float> trained(D& device, bool whole_steps) {
  manual_seed(3);
  Model<Net, D> net(device);
  optim::SGD optimizer(net, {.lr = 0.1});
  const nn::CrossEntropyLoss criterion;
  train::Step step(net, criterion, optimizer);
  Generator generator(4);
  const TestBatch<float, D> data(device, net.network(), 20, generator);
  for (int i = 0; i < 8; ++i) {
    net.train(i != 5);  // a step in evaluation mode has no mask
    if (whole_steps)
      step(data.inputs, data.labels);
    else
      eager_step(net, criterion, optimizer, data);
  }
#if GPUNET_CUDA
  if constexpr (std::is_same_v<D, Cuda>) CHECK(step.recording(20).recorded == whole_steps);
#endif
  return parameters_of(net);
}

}  // namespace

TEST_CASE_TEMPLATE(
    "masks of Dropout are the same on all devices, for any number of threads and any batch", D,
    GPUNET_TEST_DEVICES) {
  check_same_masks(test_device<D>(), nn::Dropout{});
  check_same_masks(test_device<D>(), nn::Dropout2d{});
}

TEST_CASE_TEMPLATE("masks of Dropout are the same in every slice, forward and backward", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto check = [&](const auto& layer, auto in) {
    const index_t features = in.numel();
    const std::vector<double> all =
        factors<float>(test_device<Host>(), layer, in, {samples, samples, 1});
    for (const Slice& slice : test_slices<D>()) {
      CHECK(factors<float>(device, layer, in, slice) == first(all, slice.count, features));
      CHECK(factors<double>(device, layer, in, slice) == first(all, slice.count, features));
    }
  };
  check(nn::Dropout(0.75), Shape<7>{});
  check(nn::Dropout(0.5), Shape<3, 2, 5>{});
  check(nn::Dropout2d(0.75), Shape<5, 2, 3>{});
  check(nn::Dropout2d(0.5), Shape<6, 1, 1>{});
  check(nn::Dropout1d(0.5), Shape<6, 3>{});
  check(nn::Dropout3d(0.5), Shape<4, 2, 1, 3>{});
}

TEST_CASE_TEMPLATE("Dropout zeroes the share p and multiplies the others by 1 / (1 - p)", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto check = [&](const auto& layer, auto in, double p, std::size_t elements) {
    CAPTURE(p);
    const std::vector<double> all = factors<double>(device, layer, in, {4, 4, 1});
    const double scale = 1 / (1 - p);
    index_t zeros = 0, others = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      zeros += all[i] == 0;
      others += all[i] == scale;
      if (all[i] != all[i - i % elements])
        FAIL("element ", i, " differs from the first of its channel");
    }
    CHECK(zeros + others == static_cast<index_t>(all.size()));
    const double draws = static_cast<double>(all.size()) / static_cast<double>(elements);
    const double dropped = static_cast<double>(zeros) / static_cast<double>(elements);
    CHECK(std::abs(dropped - draws * p) < 5 * std::sqrt(draws * p * (1 - p)));
  };
  for (const double p : {0.1, 0.5, 0.9}) {
    check(nn::Dropout(p), Shape<1001>{}, p, 1);
    check(nn::Dropout1d(p), Shape<501, 2>{}, p, 2);
    check(nn::Dropout2d(p), Shape<501, 2, 2>{}, p, 4);
    check(nn::Dropout3d(p), Shape<501, 1, 2, 3>{}, p, 6);
  }
}

TEST_CASE_TEMPLATE("Dropout in evaluation mode, and with p = 0, is the identity", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto check = [&](const auto& layer, nn::Mode mode) {
    for (const Slice& slice : test_slices<D>()) {
      LayerRun<float, D> run(device, layer, Shape<3, 2, 2>{}, slice);
      run.set_mode(mode);
      const std::vector<float> x = pattern<float>(slice.count * 12, 7, 3, 23),
                               dy = pattern<float>(slice.count * 12, 11, 5, 19);
      CHECK(run.forward(x) == x);
      CHECK(run.backward(dy).dx == dy);
    }
  };
  check(nn::Dropout{}, nn::Mode::eval);
  check(nn::Dropout2d{}, nn::Mode::eval);
  check(nn::Dropout(1), nn::Mode::eval);
  check(nn::Dropout(0), nn::Mode::train);
  check(nn::Dropout2d(0), nn::Mode::train);
}

TEST_CASE_TEMPLATE(
    "Dropout with p = 1 gives zeros, and zeros as gradients; a NaN that is dropped stays NaN", D,
    GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    const std::vector<double> zeros(static_cast<std::size_t>(slice.count * 12));
    CHECK(factors<float>(device, nn::Dropout(1), Shape<3, 2, 2>{}, slice) == zeros);
    CHECK(factors<double>(device, nn::Dropout2d(1), Shape<3, 2, 2>{}, slice) == zeros);
  }
  LayerRun<float, D> run(device, nn::Dropout(1), Shape<2>{}, {1, 1, 1});  // as x * mask in PyTorch
  const std::vector<float> y = run.forward({std::numeric_limits<float>::quiet_NaN(), 3});
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == 0);
}

TEST_CASE_TEMPLATE("gradients of Dropout", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const double p : {0.0, 0.3, 1.0}) {
    nn::check_layer_gradients(device, nn::Dropout(p), Shape<9>{});
    nn::check_layer_gradients(device, nn::Dropout(p), Shape<2, 3, 2>{});
    nn::check_layer_gradients(device, nn::Dropout2d(p), Shape<5, 2, 3>{});
    nn::check_layer_gradients(device, nn::Dropout2d(p), Shape<3, 1, 1>{});
  }
}

TEST_CASE_TEMPLATE("a network with Dropout learns the same in whole steps, recorded ones too", D,
                   GPUNET_TEST_DEVICES) {
  const std::vector<float> parameters = trained(test_device<D>(), true);
  CHECK(same_bits(parameters, trained(test_device<D>(), false)));
  CHECK(relative_error(parameters, trained(test_device<Host>(), true)) < 1e-5);
}

TEST_CASE("a network with Dropout learns the same with any number of threads") {
  Host alone({.threads = 1}), four({.threads = 4});
  CHECK(same_bits(trained(alone, true), trained(four, true)));
}

TEST_CASE_TEMPLATE(
    "fit trains a network with Dropout, evaluates it without, and repeats after manual_seed", D,
    GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Generator generator(2);
  const Tensor<float, Host> x(test_device<Host>(), {60, 2}, random_values<float>(120, generator));
  std::vector<label_t> labels;
  for (const std::vector<float> values = x.to_vector(); labels.size() < 60;)
    labels.push_back(values[2 * labels.size()] > 0 ? 1 : 0);
  const Tensor<label_t, Host> targets(test_device<Host>(), {60}, labels);
  const data::TensorDataset set(x, targets);
  const auto fitted = [&] {
    manual_seed(1);
    const nn::Sequential layers(nn::Input<2>{}, nn::Linear<32>{}, nn::ReLU{}, nn::Dropout(0.2),
                                nn::Linear<2>{});
    Model<std::remove_const_t<decltype(layers)>, D> net(device, layers);
    optim::Adam optimizer(net, {.lr = 0.02});
    const nn::CrossEntropyLoss criterion;
    data::DataLoader loader(set, {.batch_size = 17, .shuffle = true});
    train::fit(net, criterion, optimizer, loader, {.epochs = 20});
    const auto result = train::evaluate(net, criterion, loader);
    CHECK(result.accuracy > 0.9);
    CHECK(train::evaluate(net, criterion, loader).accuracy == result.accuracy);
    return parameters_of(net);
  };
  CHECK(same_bits(fitted(), fitted()));
}

TEST_CASE("Dropout is printed as by PyTorch, and has no keys in files") {
  const nn::Sequential layers(nn::Input<2, 3, 3>{}, nn::Dropout2d{}, nn::Dropout(0.2),
                              nn::Flatten{}, nn::Dropout(1), nn::Linear<2>{});
  CHECK(nn::to_string(layers) ==
        "Sequential(\n"
        "  (0): Dropout2d(p=0.5, inplace=False)\n"
        "  (1): Dropout(p=0.2, inplace=False)\n"
        "  (2): Flatten(start_dim=1, end_dim=-1)\n"
        "  (3): Dropout(p=1.0, inplace=False)\n"
        "  (4): Linear(in_features=18, out_features=2, bias=True)\n"
        ")");
  const Model net(test_device<Host>(), layers);
  const TempFolder folder;
  io::save(net, folder / "net.safetensors");
  const auto file = io::read_tensors(folder / "net.safetensors");
  std::vector<std::string> keys;
  for (const auto& entry : file.entries())
    keys.push_back(entry.name);
  std::sort(keys.begin(), keys.end());
  CHECK(keys == std::vector<std::string>{"4.bias", "4.weight"});
}

TEST_CASE("probabilities that Dropout refuses") {
  CHECK_THROWS_WITH_AS(
      nn::Dropout(20),
      "gpunet::nn::Dropout: p 20 (want 0 to 1), give the probability of a zero: 0.2 for 20 %",
      Error);
  CHECK_THROWS_AS(nn::Dropout(-0.1), Error);
  CHECK_THROWS_AS(nn::Dropout2d(1.0000001), Error);
  CHECK_THROWS_AS(nn::Dropout2d{std::numeric_limits<double>::quiet_NaN()}, Error);
}
