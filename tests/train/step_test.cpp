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

TEST_CASE_TEMPLATE("a step that accumulates gradients leaves the bits of the loop", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (index_t accumulate : {1, 2, 3}) {
    CAPTURE(accumulate);
    manual_seed(15);
    Model<SmallNet, D> stepped(device), looped = stepped.to(device);
    const nn::CrossEntropyLoss criterion;
    optim::SGD step_optimizer(stepped, {.lr = 0.1, .momentum = 0.9}),
        loop_optimizer(looped, {.lr = 0.1, .momentum = 0.9});
    train::Step step(stepped, criterion, step_optimizer, {.accumulate = accumulate});
    Generator generator(15);
    for (index_t i = 0; i < 3 * accumulate; ++i) {
      const TestBatch<float, D> data(device, SmallNet{}, i % 2 == 0 ? 3 : 17, generator);
      const auto stepped_loss = step(data.inputs, data.labels).item();
      if (i % accumulate == 0) loop_optimizer.zero_grad();
      auto loss = criterion(looped(data.inputs), data.labels);
      CHECK(loss.item() == stepped_loss);
      loss.backward(1.0 / static_cast<double>(accumulate));
      if (i % accumulate == accumulate - 1) loop_optimizer.step();
      CHECK(same_bits(parameters_of(stepped), parameters_of(looped)));
      CHECK(same_bits(gradients_of(stepped), gradients_of(looped)));
      CHECK(step.accumulated() == (i + 1) % accumulate);
    }
  }
}

TEST_CASE_TEMPLATE("accumulated gradients of equal parts are those of the whole batch", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(16);
  Model<SmallNet, D, double> whole(device), parts = whole.to(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD whole_optimizer(whole, {.lr = 0.1}), parts_optimizer(parts, {.lr = 0.1});
  train::Step step(whole, criterion, whole_optimizer),
      part(parts, criterion, parts_optimizer, {.accumulate = 3});
  Generator generator(16);
  const TestBatch<double, D> data(device, SmallNet{}, 6, generator);
  for (int i = 0; i < 2; ++i) {
    step(data.inputs, data.labels);
    for (index_t n = 0; n < 6; n += 2)
      part(View<const double, D>(data.inputs.data() + n * SmallNet{}.input().numel(),
                                 Sizes{2, 2, 7, 6}),
           View<const label_t, D>(data.labels.data() + n, Sizes{2}));
  }
  CHECK(relative_error(parameters_of(parts), parameters_of(whole)) <
        1e-14);  // sums of six samples in another order
}

TEST_CASE_TEMPLATE("an incomplete group of batches is updated by hand", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(17);
  Model<SmallNet, D> stepped(device), looped = stepped.to(device);
  const nn::CrossEntropyLoss criterion;
  optim::Adam step_optimizer(stepped, {.lr = 0.01}), loop_optimizer(looped, {.lr = 0.01});
  train::Step step(stepped, criterion, step_optimizer, {.accumulate = 4});
  Generator generator(17);
  step.update();  // nothing is there
  CHECK(same_bits(parameters_of(stepped), parameters_of(looped)));
  for (int group = 0; group < 2; ++group) {
    loop_optimizer.zero_grad();
    for (int i = 0; i < 3; ++i) {
      const TestBatch<float, D> data(device, SmallNet{}, 3, generator);
      step(data.inputs, data.labels);
      criterion(looped(data.inputs), data.labels).backward(0.25);
    }
    step.update();
    CHECK(step.accumulated() == 0);
    step.update();  // nothing is there
    loop_optimizer.step();
    CHECK(same_bits(parameters_of(stepped), parameters_of(looped)));
  }
}

TEST_CASE_TEMPLATE("repeat accumulates too, and small dense networks do", D, GPUNET_TEST_DEVICES) {
  using Dense = nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<3>>;
  D& device = test_device<D>();
  manual_seed(18);
  Model<Dense, D, double> repeated(device), once = repeated.to(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD repeated_optimizer(repeated, {.lr = 0.1}), once_optimizer(once, {.lr = 0.1});
  train::Step accumulating(repeated, criterion, repeated_optimizer, {.accumulate = 4}),
      step(once, criterion, once_optimizer);
  Generator generator(18);
  const TestBatch<double, D> data(device, Dense{}, 5, generator);
  CHECK(accumulating.repeat(8, data.inputs, data.labels).numel() == 8);
  CHECK(accumulating.accumulated() == 0);
  step.repeat(2, data.inputs, data.labels);
  CHECK(relative_error(parameters_of(repeated), parameters_of(once)) < 1e-14);
  CHECK(contains(
      error_of([&] { train::Step none(once, criterion, once_optimizer, {.accumulate = 0}); }),
      "gpunet::train::Step: accumulate 0 (want 1, an update for every batch, or more)"));
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
  const TestBatch<float, D> three(device, SmallNet{}, 3, generator),
      two(device, SmallNet{}, 2, generator);
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
