#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

enum class Loop { eager, step };

struct Result {
  std::vector<float> losses, parameters;
  bool operator==(const Result& other) const {
    return same_bits(losses, other.losses) && same_bits(parameters, other.parameters);
  }
};

// Losses and parameters of a few steps on random batches, the same for every device and loop.
template <class Net, class D>
Result run_steps(D& device, index_t batch, int steps, Loop loop) {
  manual_seed(11);
  Model<Net, D> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.05f, .momentum = 0.9f});
  train::Step step(net, criterion, optimizer);
  Generator generator(batch);
  Result result;
  for (int i = 0; i < steps; ++i) {
    const TestBatch<float, D> data(device, Net{}, batch, generator);
    result.losses.push_back(loop == Loop::step ? step(data.inputs, data.labels).item()
                                               : eager_step(net, criterion, optimizer, data));
  }
  result.parameters = parameters_of(net);
  return result;
}

}  // namespace

TEST_CASE("the loop and the step leave the same bits on Host, with any number of threads") {
  Host one({.threads = 1}), two({.threads = 2}), three({.threads = 3});
  for (index_t batch : {1, 2, 3, 4, 5, 16, 17, 50, 100}) {
    CAPTURE(batch);
    const Result expected = run_steps<SmallNet>(one, batch, 5, Loop::eager);
    CHECK(run_steps<SmallNet>(one, batch, 5, Loop::step) == expected);
    CHECK(run_steps<SmallNet>(two, batch, 5, Loop::eager) == expected);
    CHECK(run_steps<SmallNet>(two, batch, 5, Loop::step) == expected);
    CHECK(run_steps<SmallNet>(three, batch, 5, Loop::eager) == expected);
    CHECK(run_steps<SmallNet>(three, batch, 5, Loop::step) == expected);
  }
}

TEST_CASE("the same for LeNet") {
  Host one({.threads = 1}), three({.threads = 3});
  for (index_t batch : {4, 53}) {
    CAPTURE(batch);
    const Result expected = run_steps<LeNet>(one, batch, 2, Loop::eager);
    CHECK(run_steps<LeNet>(three, batch, 2, Loop::step) == expected);
  }
}

TEST_CASE_TEMPLATE("the loop and the step leave the same bits", D, GPUNET_TEST_DEVICES) {
  for (index_t batch : {1, 3}) {
    CAPTURE(batch);
    CHECK(run_steps<SmallNet>(test_device<D>(), batch, 3, Loop::step) ==
          run_steps<SmallNet>(test_device<D>(), batch, 3, Loop::eager));
  }
}

TEST_CASE_TEMPLATE("batches of different sizes may follow each other", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(12);
  Model<SmallNet, D> stepped(device), looped = stepped.to(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD step_optimizer(stepped, {.lr = 0.1f, .momentum = 0.5f}),
      loop_optimizer(looped, {.lr = 0.1f, .momentum = 0.5f});
  train::Step step(stepped, criterion, step_optimizer);
  Generator generator(12);
  for (index_t batch : {4, 17, 1, 2, 5}) {
    const TestBatch<float, D> data(device, SmallNet{}, batch, generator);
    step(data.inputs, data.labels);
    eager_step(looped, criterion, loop_optimizer, data);
  }
  CHECK(same_bits(parameters_of(stepped), parameters_of(looped)));
}

TEST_CASE_TEMPLATE("training learns", D, GPUNET_TEST_DEVICES) {
  const Result result = [] {
    D& device = test_device<D>();
    manual_seed(13);
    Model<SmallNet, D> net(device);
    const nn::CrossEntropyLoss criterion;
    optim::SGD optimizer(net, {.lr = 0.2f, .momentum = 0.9f});
    train::Step step(net, criterion, optimizer);
    Generator generator(13);
    const TestBatch<float, D> data(device, SmallNet{}, 4, generator);
    Result losses;
    for (int i = 0; i < 40; ++i)
      losses.losses.push_back(step(data.inputs, data.labels).item());
    return losses;
  }();
  CHECK(result.losses.front() > 1);
  CHECK(result.losses.back() < 0.05f);  // four samples learned by heart
}

TEST_CASE_TEMPLATE("a step refuses what the model refuses", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> net(device);
  const std::vector<float> before = parameters_of(net);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1f});
  train::Step step(net, criterion, optimizer);
  Generator generator(14);
  const TestBatch<float, D> three(device, SmallNet{}, 3, generator), two(device, SmallNet{}, 2, generator);
  CHECK_THROWS_AS(step(three.inputs, two.labels), Error);
  CHECK(same_bits(parameters_of(net), before));
  CHECK_NOTHROW(step(three.inputs, three.labels));
}

TEST_CASE_TEMPLATE("a step refuses the optimizer of another model", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> first(device), second(device);
  optim::SGD optimizer(second, {.lr = 0.1});
  const nn::CrossEntropyLoss criterion;
  CHECK(contains(error_of([&] { train::Step step(first, criterion, optimizer); }),
                 "gpunet::train::Step: the optimizer belongs to another model"));
}
