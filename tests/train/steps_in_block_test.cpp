#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"

using namespace gpunet;

namespace {

// The network of the Iris lesson.
using IrisNet =
    nn::Sequential<nn::Input<4>, nn::Named<"fc1", nn::Linear<8>>, nn::ReLU,
                   nn::Named<"fc2", nn::Linear<9>>, nn::ReLU, nn::Named<"out", nn::Linear<3>>>;
using Softmaxed = nn::Sequential<nn::Input<2, 3>, nn::Flatten, nn::Linear<4>>;
using WithoutBias = nn::Sequential<nn::Input<4>, nn::Linear<7, nn::Bias<false>>, nn::ReLU,
                                   nn::Linear<5>, nn::ReLU, nn::Linear<3, nn::Bias<false>>>;
using TooLarge = nn::Sequential<nn::Input<300>, nn::Linear<300>>;

struct Result {
  std::vector<double> losses, parameters, gradients;
};

// Losses, parameters and last gradients of steps on one batch.
template <class Net, class T, class Optimizer, class Options, class D>
Result repeated(D& device, index_t batch, index_t steps, Options options, bool at_once) {
  manual_seed(5);
  Model<Net, D, T> net(device);
  const nn::CrossEntropyLoss criterion;
  typename Optimizer::template of<Model<Net, D, T>> optimizer(net, options);
  train::Step step(net, criterion, optimizer);
  Generator generator(batch);
  const TestBatch<T, D> data(device, Net{}, batch, generator);
  std::vector<T> losses;
  if (at_once)
    losses = step.repeat(steps, data.inputs, data.labels).to_vector();
  else
    for (index_t i = 0; i < steps; ++i)
      losses.push_back(step(data.inputs, data.labels).item());
  const std::vector<T> parameters = parameters_of(net), gradients = gradients_of(net);
  return {{losses.begin(), losses.end()},
          {parameters.begin(), parameters.end()},
          {gradients.begin(), gradients.end()}};
}

struct UseSGD {
  template <class M>
  using of = optim::SGD<typename M::device_type, typename M::value_type>;
};
struct UseAdam {
  template <class M>
  using of = optim::Adam<typename M::device_type, typename M::value_type>;
};
struct UseRMSprop {
  template <class M>
  using of = optim::RMSprop<typename M::device_type, typename M::value_type>;
};

void check_close(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    worst = std::max(worst, std::abs(a[i] - b[i]));
  }
  CAPTURE(largest);
  CHECK(worst <= tolerance * largest);
}

// Rounding grows from step to step: a few hundred units in the last place after ten.
template <class Net, class T, class Optimizer, class Options>
void compare(index_t batch, Options options, double tolerance) {
  CAPTURE(batch);
  Host host({.threads = 1});
  const auto expected = repeated<Net, T, Optimizer>(host, batch, 10, options, false);
  const auto one_by_one =
      repeated<Net, T, Optimizer>(test_device<Cuda>(), batch, 10, options, false);
  const auto at_once = repeated<Net, T, Optimizer>(test_device<Cuda>(), batch, 10, options, true);
  check_close(one_by_one.losses, expected.losses, tolerance);
  check_close(one_by_one.parameters, expected.parameters, tolerance);
  check_close(one_by_one.gradients, expected.gradients, tolerance);
  CHECK(at_once.losses == one_by_one.losses);
  CHECK(at_once.parameters == one_by_one.parameters);
  CHECK(at_once.gradients == one_by_one.gradients);
}

}  // namespace

TEST_CASE("steps of small dense networks in one block of Cuda are those of Host") {
  const optim::SGDOptions sgd{.lr = 0.1, .momentum = 0.9, .weight_decay = 1e-3};
  for (index_t batch : {1, 7, 33})
    compare<IrisNet, double, UseAdam>(batch, optim::AdamOptions{.lr = 0.01}, 1e-12);
  compare<IrisNet, float, UseAdam>(40, optim::AdamOptions{.lr = 0.01}, 1e-4);
  compare<IrisNet, double, UseAdam>(
      7,
      optim::AdamOptions{
          .lr = 0.01, .weight_decay = 0.1, .amsgrad = true, .decoupled_weight_decay = true},
      1e-12);
  compare<IrisNet, double, UseRMSprop>(
      7, optim::RMSpropOptions{.eps = 0.01, .momentum = 0.5, .centered = true}, 1e-12);
  compare<IrisNet, double, UseRMSprop>(7, optim::RMSpropOptions{.eps = 0.01}, 1e-12);
  compare<IrisNet, float, UseSGD>(40, sgd, 1e-5);
  compare<IrisNet, double, UseSGD>(5, optim::SGDOptions{.lr = 0.1}, 1e-12);
  compare<Softmaxed, double, UseSGD>(6, sgd, 1e-12);
  compare<WithoutBias, double, UseSGD>(9, sgd, 1e-12);
}

TEST_CASE("networks that do not fit into a block of Cuda take their steps as others do") {
  compare<TooLarge, double, UseSGD>(1, optim::SGDOptions{.lr = 0.1}, 1e-12);
}

TEST_CASE_TEMPLATE("repeat wants a number of steps", D, GPUNET_TEST_DEVICES) {
  CHECK_THROWS_AS(
      (repeated<IrisNet, float, UseAdam>(test_device<D>(), 3, 0, optim::AdamOptions{}, true)),
      Error);
}

#endif
