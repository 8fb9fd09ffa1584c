#include "reference/adam.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"

using namespace gpunet;

namespace {

using Classifier = nn::Sequential<nn::Input<4>, nn::Linear<3>>;

// A classifier with the parameters of reference/adam.py, and a batch for it.
template <class D, class T>
struct Lesson {
  Lesson() {
    std::vector<T> arena(static_cast<std::size_t>(net.parameters().numel()), T{});
    const auto& named = net.named_parameters();
    const std::vector<T> weight = pattern<T>(12, 5, 1, 17), bias = pattern<T>(3, 3, 2, 7);
    std::copy(weight.begin(), weight.end(), arena.data() + named[0].offset);
    std::copy(bias.begin(), bias.end(), arena.data() + named[1].offset);
    device.upload(net.parameters().data(), arena.data(), arena.size() * sizeof(T));
  }

  // Weight and bias.
  std::vector<T> parameters() const {
    std::vector<T> arena(static_cast<std::size_t>(net.parameters().numel())), values;
    device.download(arena.data(), net.parameters().data(), arena.size() * sizeof(T));
    for (const auto& parameter : net.named_parameters()) {
      const T* first = arena.data() + parameter.offset;
      values.insert(values.end(), first, first + parameter.sizes.numel());
    }
    return values;
  }

  D& device = test_device<D>();
  Model<Classifier, D, T> net{device};
  nn::CrossEntropyLoss criterion;
  Tensor<T, D> inputs{device, {5, 4}, pattern<T>(20, 7, 3, 23)};
  Tensor<label_t, D> labels{device, {5}, {0, 2, 1, 1, 0}};
};

template <class D, class T>
void check_trajectories(double tolerance) {
  for (const auto& run : reference::adam_runs) {
    CAPTURE(std::string(run.name));
    Lesson<D, T> lesson;
    optim::Adam optimizer(
        lesson.net,
        {.lr = run.lr, .betas = {run.beta1, run.beta2}, .eps = run.eps, .weight_decay = run.weight_decay});
    std::vector<T> losses;
    for (int step = 0; step < 1000; ++step) {
      optimizer.zero_grad();
      auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
      if (step % 50 == 0) losses.push_back(loss.item());
      loss.backward();
      optimizer.step();
    }
    CHECK(relative_error(losses, run.losses) < tolerance);
    CHECK(relative_error(lesson.parameters(), run.parameters) < tolerance);
  }
}

// The message of the error that these options are.
std::string error_of(const optim::AdamOptions& options) {
  Model<Classifier, Host> net(test_device<Host>());
  try {
    const optim::Adam optimizer(net, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE_TEMPLATE("1000 steps of Adam are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_trajectories<D, double>(1e-12);
  check_trajectories<D, float>(1e-5);
}

TEST_CASE_TEMPLATE("zero_grad and then a step of Adam does nothing", D, GPUNET_TEST_DEVICES) {
  Lesson<D, float> lesson;
  optim::Adam optimizer(lesson.net, {.lr = 0.1, .weight_decay = 0.1});
  const std::vector<float> before = lesson.parameters();
  optimizer.step();  // no backward pass yet
  CHECK(lesson.parameters() == before);
  auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
  loss.backward();
  optimizer.zero_grad();
  optimizer.step();
  CHECK(lesson.parameters() == before);
}

TEST_CASE_TEMPLATE("the first step of Adam is as long as the learning rate", D, GPUNET_TEST_DEVICES) {
  Lesson<D, double> lesson;
  optim::Adam optimizer(lesson.net, {.lr = 0.25, .eps = 0});
  const std::vector<double> before = lesson.parameters();
  auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
  loss.backward();
  optimizer.step();
  const std::vector<double> after = lesson.parameters();
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(std::abs(after[i] - before[i]) == doctest::Approx(0.25).epsilon(1e-12));
}

TEST_CASE_TEMPLATE("the learning rate of Adam may change between steps", D, GPUNET_TEST_DEVICES) {
  Lesson<D, float> lesson;
  optim::Adam optimizer(lesson.net, {});
  CHECK(optimizer.lr() == 0.001);
  optimizer.set_lr(0);
  CHECK(optimizer.lr() == 0);
  const std::vector<float> before = lesson.parameters();
  auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
  loss.backward();
  optimizer.step();
  CHECK(lesson.parameters() == before);
}

TEST_CASE("options of Adam that make no sense") {
  const double nan = std::nan("");
  CHECK(error_of({.lr = -0.5}) == "gpunet::optim::Adam: invalid learning rate -0.5 (want 0 or more)");
  CHECK(error_of({.lr = nan}) == "gpunet::optim::Adam: invalid learning rate nan (want 0 or more)");
  CHECK(error_of({.eps = std::numeric_limits<double>::infinity()}) ==
        "gpunet::optim::Adam: invalid epsilon value inf (want 0 or more)");
  CHECK(error_of({.eps = -1}) == "gpunet::optim::Adam: invalid epsilon value -1 (want 0 or more)");
  CHECK(error_of({.betas = {1, 0.5}}) ==
        "gpunet::optim::Adam: invalid beta parameter at index 0: 1 (want 0 or more and less than 1)");
  CHECK(error_of({.betas = {0.5, -0.5}}) ==
        "gpunet::optim::Adam: invalid beta parameter at index 1: -0.5 (want 0 or more and less than 1)");
  CHECK(error_of({.weight_decay = -1}) == "gpunet::optim::Adam: invalid weight_decay value -1 (want 0 or more)");
  CHECK(error_of({.lr = 0, .betas = {0, 0}, .eps = 0}) == "");
}
