#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "distributed/world.hpp"
#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;
using distributed::DistributedDataParallel;

namespace {

constexpr distributed::DistributedDataParallelOptions synchronized{.broadcast_buffers = false,
                                                                   .sync_batch_norm = true};

// A training of reference/sync_batch_norm.py.
struct Training {
  std::string network;
  int ranks, steps;
  bool uneven;
  double momentum;  // -1: none
  bool frozen;      // the parameters of the normalizations
  std::vector<double> losses, weights, buffers;
};

std::vector<Training> reference_trainings() {
  const ReferenceFile file("sync_batch_norm");
  std::vector<Training> trainings;
  for (const std::string& array : file.names("", ".options")) {
    const std::string key = array.substr(0, array.rfind('.'));
    const std::vector<double> options = file.values(array);
    const Sizes& losses = file.sizes(key + ".losses");
    trainings.push_back({key.substr(3), static_cast<int>(losses[0]), static_cast<int>(losses[1]),
                         options[0] != 0, options[1], options[2] != 0, file.values(key + ".losses"),
                         file.values(key + ".weights"), file.values(key + ".buffers")});
  }
  REQUIRE(trainings.size() == 17);
  return trainings;
}

std::optional<double> momentum_of(double momentum) {
  return momentum < 0 ? std::nullopt : std::optional(momentum);
}

// The networks of reference/sync_batch_norm.py.
auto images_with(double momentum) {
  return [=](nn::Value x) {
    const nn::BatchNormOptions options{.momentum = momentum_of(momentum)};
    x = max_pool2d(relu(batch_norm(conv2d(x, 6, 3, {.padding = 1}), options)), 2);
    x = batch_norm(conv2d(x, 5, 3), options);
    return linear(relu6(batch_norm(linear(flatten(x), 7), options)), 4);
  };
}
auto features_with(double momentum) {
  return [=](nn::Value x) {
    const nn::BatchNormOptions options{.momentum = momentum_of(momentum)};
    return linear(tanh(batch_norm(linear(batch_norm(x, options), 9), options)), 3);
  };
}

template <class D>
Network<D, double> network_of(D& device, const Training& expected) {
  manual_seed(static_cast<std::uint64_t>(world().rank()));  // the parameters of rank 0 count
  const bool is_images = expected.network == "Images";
  Network<D, double> net =
      is_images ? Network<D, double>(device, images_with(expected.momentum), {2, 8, 8})
                : Network<D, double>(device, features_with(expected.momentum), {5});
  if (expected.frozen) {
    std::vector<std::string> names;  // of the parameters of normalizations
    for (const Node& node : net.graph().nodes)
      for (const ParameterInfo& info : net.graph().parameters_of(node))
        if (node.buffers > 0) names.push_back(info.name);
    for (const std::string& name : names)
      net.parameters(name).requires_grad(false);
  }
  return net;
}

// Rounding in another order grows in 24 steps: PyTorch with the samples in reverse order differs
// from itself by up to 9.8e-12.
void check_close(double a, double b) {
  CHECK(std::abs(a - b) <= 1e-10 * (1 + std::abs(b)));
}

// Checks that an array is bitwise identical on all ranks.
void check_identical(const std::vector<double>& own) {
  const auto count = static_cast<index_t>(own.size());
  const Tensor<double, Host> here(test_device<Host>(), {count}, own);
  const std::vector<double> everywhere = world().all_gather(here).to_vector();
  for (index_t r = 0; r < world().size(); ++r)
    CHECK(same_bits({everywhere.begin() + r * count, everywhere.begin() + (r + 1) * count}, own));
}

double weighted_sum(std::span<const double> values) {
  const std::vector<double> weights = pattern<double>(std::ssize(values), 5, 2, 23);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    sum += values[i] * weights[i];
  return sum;
}

template <class D>
std::vector<double> buffers_of(const Network<D, double>& net) {
  return to_vector(net.device(), net.buffers());
}

// Trains as reference/sync_batch_norm.py does, by `step(x, y)`, which returns the loss, and
// compares.
template <class D, class Train>
void check_training(D& device, const Training& expected, Train train) {
  const index_t rank = world().rank();
  Network<D, double> net = network_of(device, expected);
  DistributedDataParallel ddp(net, world(), synchronized);
  optim::SGD optimizer(net, {.lr = 0.05, .momentum = 0.9});
  const Sizes shape = net.graph().values[0];
  const auto classes = static_cast<int>(net.output_sizes()[0]);
  train(net, optimizer, [&](auto run) {
    for (int step = 0; step < expected.steps; ++step) {
      const index_t size = expected.uneven ? (rank + step) % 3 + 1 : 3;
      std::vector<double> values =
          pattern<double>(size * shape.numel(), 7, 31 * step + 5 * rank, 29);
      for (double& value : values)
        value = value * static_cast<double>(1 + rank) + static_cast<double>(rank);
      std::vector<label_t> labels;
      for (index_t i = 0; i < size; ++i)
        labels.push_back(static_cast<label_t>((3 * i + step + rank) % classes));
      const double loss = run(Tensor<double, D>(device, shape.with_front(size), values),
                              Tensor<label_t, D>(device, {size}, labels));
      check_close(loss, expected.losses[static_cast<std::size_t>(rank * expected.steps + step)]);
    }
  });
  std::size_t i = 0;
  const std::vector<double> weights = parameters_of(net), buffers = buffers_of(net);
  for (const ParameterInfo& info : net.named_parameters())
    check_close(
        weighted_sum(std::span(weights).subspan(static_cast<std::size_t>(info.offset),
                                                static_cast<std::size_t>(info.sizes.numel()))),
        expected.weights[i++]);
  CHECK(i == expected.weights.size());
  i = 0;
  for (const BufferInfo& info : net.named_buffers()) {
    if (!info.name.ends_with("running_mean") && !info.name.ends_with("running_var")) continue;
    double sum = 0;
    for (index_t k = 0; k < info.sizes.numel(); ++k)
      sum += buffers[static_cast<std::size_t>(info.offset + k)];
    check_close(sum, expected.buffers[i++]);
  }
  CHECK(i == expected.buffers.size());
  check_identical(weights);
  check_identical(buffers);
}

// Returns how many calls the ranks make in a forward and in a backward pass of a network.
struct Calls {
  index_t forward, backward;
  bool operator==(const Calls&) const = default;
};
template <class F>
Calls calls_of(F function, const Sizes& sizes, const std::string& first_trained = "") {
  Host& host = test_device<Host>();
  Network<Host, double> net(host, function, sizes);
  if (!first_trained.empty())
    net.parameters([&](const ParameterInfo& info) { return info.name < first_trained; })
        .requires_grad(false);
  DistributedDataParallel ddp(net, world(), synchronized);
  const Sizes shape = sizes.with_front(4);
  const Tensor<double, Host> x(host, shape, pattern<double>(shape.numel(), 7, 0, 29));
  const Tensor<label_t, Host> y(host, {4}, {0, 1, 2, 0});
  const index_t start = world().calls();
  auto loss = nn::CrossEntropyLoss{}(net(x), y);
  const index_t forward = world().calls() - start;
  loss.backward();
  return {forward, world().calls() - start - forward};
}

}  // namespace

TEST_CASE_TEMPLATE(
    "with sync_batch_norm, ranks train as PyTorch in one process with the batches of all", D,
    GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  int compared = 0;
  for (const Training& expected : reference_trainings()) {
    if (expected.ranks != world().size()) continue;
    ++compared;
    const bool is_images = expected.network == "Images";
    // A simulated GPU takes 3 s for each.
    if (!std::is_same_v<D, Host> && is_images && !expected.frozen) continue;
    CAPTURE(expected.network);
    CAPTURE(expected.uneven);
    CAPTURE(expected.momentum);
    const nn::CrossEntropyLoss criterion;
    check_training(device, expected, [&](auto& net, auto& optimizer, auto steps) {
      steps([&](const auto& x, const auto& y) {
        optimizer.zero_grad();
        auto loss = criterion(net(x), y);
        loss.backward();
        optimizer.step();
        return loss.item();
      });
    });
    check_training(device, expected, [&](auto& net, auto& optimizer, auto steps) {
      train::Step step(net, criterion, optimizer);
      steps([&](const auto& x, const auto& y) { return step(x, y).item(); });
    });
  }
  CHECK(compared == (world().size() == 1 ? 2 : world().size() <= 4 ? 5 : 0));
}

TEST_CASE_TEMPLATE("statistics of all ranks have the digits of their numbers, however far from 0",
                   D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  // Rank r has r + 1 samples (two in a world of one) of three channels, around 10^6 + 4 r;
  // reference sums are in long double.
  const index_t ranks = world().size(), own = world().rank() + 1;
  const auto samples_of = [&](index_t rank) {
    std::vector<double> values = pattern<double>((ranks == 1 ? 2 : rank + 1) * 3, 7, 3 * rank, 29);
    for (double& value : values)
      value = value / 3 + static_cast<double>(1'000'000 + 4 * rank);
    return values;
  };
  Network<D, double> net(device, [](nn::Value x) { return batch_norm(x, {.momentum = 1}); }, {3});
  DistributedDataParallel ddp(net, world(), synchronized);
  const std::vector<double> y =
      net(Tensor<double, D>(device, {ranks == 1 ? 2 : own, 3}, samples_of(own - 1))).to_vector();
  const std::vector<double> buffers = buffers_of(net);
  for (index_t c = 0; c < 3; ++c) {
    CAPTURE(c);
    std::vector<long double> all;
    for (index_t r = 0; r < ranks; ++r)
      for (const std::vector<double> of = samples_of(r); const double value : of)
        all.push_back(value);
    long double mean = 0, squares = 0;
    const auto n = static_cast<long double>(all.size() / 3);
    for (std::size_t i = static_cast<std::size_t>(c); i < all.size(); i += 3)
      mean += all[i] / n;
    for (std::size_t i = static_cast<std::size_t>(c); i < all.size(); i += 3)
      squares += (all[i] - mean) * (all[i] - mean);
    // The mean is rounded to its last digit, 2^-33, by which the distances from it, of 0.1 and
    // more, are wrong.
    const double tolerance = 1e-8;
    const auto at = [&](int buffer) {
      return buffers[static_cast<std::size_t>(
          net.named_buffers()[static_cast<std::size_t>(buffer)].offset + c)];
    };
    CHECK(std::abs(at(0) - static_cast<double>(mean)) <= 0x1p-32);
    CHECK(std::abs(at(1) / static_cast<double>(squares / (n - 1)) - 1) < tolerance);
    const std::vector<double> x = samples_of(own - 1);
    for (std::size_t i = static_cast<std::size_t>(c); i < x.size(); i += 3)
      CHECK(std::abs(y[i] - static_cast<double>((x[i] - mean) / std::sqrt(squares / n + 1e-5L))) <
            tolerance);
  }
}

TEST_CASE(
    "each normalization takes one call forward and one backward, unless nothing below it is "
    "trained") {
  // A world of one has BatchNorm.
  const index_t on = world().size() > 1;
  // With the one for all gradients.
  CHECK(calls_of(images_with(0.1), {2, 8, 8}) == Calls{3 * on, 4 * on});
  CHECK(calls_of(features_with(0.1), {5}) ==
        Calls{2 * on, 2 * on});  // the first one needs no gradient of its input
  CHECK(calls_of(images_with(0.1), {2, 8, 8}, "4") == Calls{3 * on, 2 * on});
  Host& host = test_device<Host>();
  Network<Host, double> net(host, features_with(0.1), {5});
  DistributedDataParallel ddp(net, world(), synchronized);
  const Tensor<double, Host> x(host, {2, 5}, pattern<double>(10, 7, 0, 29));
  const Tensor<label_t, Host> y(host, {2}, {0, 1});
  const index_t start = world().calls();
  {
    const auto none = ddp.no_sync();  // of gradients; statistics still are those of all ranks
    nn::CrossEntropyLoss{}(net(x), y).backward();
  }
  CHECK(world().calls() - start == 3 * on);
  net.eval();
  const index_t calls = world().calls();
  auto loss = nn::CrossEntropyLoss{}(net(x), y);
  CHECK(world().calls() == calls);  // the ranks may evaluate different numbers of batches
  loss.backward();
  CHECK(world().calls() == calls + on);  // all gradients
}

TEST_CASE("ranks of which one has no sync_batch_norm are an error on all of them") {
  if (world().size() == 1) return;
  Network<Host, double> net(test_device<Host>(), features_with(0.1), {5});
  distributed::DistributedDataParallelOptions options = synchronized;
  options.sync_batch_norm = world().rank() == 0;
  CHECK(contains(error_of([&] { DistributedDataParallel ddp(net, world(), options); }),
                 "rank 1 has sync_batch_norm off where rank 0 has sync_batch_norm on"));
}

TEST_CASE("a rank may have one value per channel, if statistics are those of all ranks") {
  Host& host = test_device<Host>();
  Network<Host, double> net(host, features_with(0.1), {5});
  const Tensor<double, Host> x(host, {1, 5}, pattern<double>(5, 7, 5 * world().rank(), 29));
  {
    DistributedDataParallel ddp(net, world(), synchronized);
    CHECK(contains(error_of([&] { net(x); }), "one value per channel") == (world().size() == 1));
  }
  DistributedDataParallel ddp(net, world());
  CHECK(contains(error_of([&] { net(x); }), "one value per channel"));
}

TEST_CASE(
    "detect_anomaly names the layer on the rank with the number, and sends the others there") {
  Host& host = test_device<Host>();
  Network<Host, double> net(host, features_with(0.1), {5});
  net.detect_anomaly();
  DistributedDataParallel ddp(net, world(), synchronized);
  optim::SGD optimizer(net, {.lr = 0.1});
  train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
  const Tensor<label_t, Host> y(host, {2}, {0, 1});
  const bool is_last = world().rank() == world().size() - 1;
  std::vector<double> values = pattern<double>(10, 7, 0, 29);
  const Tensor<double, Host> good(host, {2, 5}, values);
  if (is_last) values[3] = std::numeric_limits<double>::infinity();
  const Tensor<double, Host> bad(host, {2, 5}, values);
  for (const bool eager : {true, false}) {
    const std::vector<double> weights = parameters_of(net);
    const std::string error = error_of([&] { eager ? void(net(bad)) : void(step(bad, y)); });
    CHECK(contains(error, is_last ? "the inputs have inf at [0, 3]"
                                  : "look at the messages of the other ranks"));
    CHECK(same_bits(parameters_of(net), weights));
    // The ranks are still in step.
    fill(host, net.buffers().numel(), 0.0, net.buffers().data());
    CHECK(std::isfinite(step(good, y).item()));
    check_identical(parameters_of(net));
  }
}
