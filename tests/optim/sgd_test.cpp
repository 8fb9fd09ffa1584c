#include "reference/sgd.hpp"

#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"

using namespace gpunet;

namespace {

using Classifier = nn::Sequential<nn::Input<4>, nn::Linear<3>>;

// A classifier with the parameters of reference/sgd.py, and a batch for it.
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
  for (const auto& run : reference::sgd_runs) {
    CAPTURE(run.name);
    Lesson<D, T> lesson;
    optim::SGD optimizer(lesson.net, {.lr = static_cast<float>(run.lr),
                                      .momentum = static_cast<float>(run.momentum),
                                      .dampening = static_cast<float>(run.dampening),
                                      .weight_decay = static_cast<float>(run.weight_decay),
                                      .nesterov = run.nesterov});
    std::vector<T> losses;
    for (int step = 0; step < 20; ++step) {
      optimizer.zero_grad();
      auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
      losses.push_back(loss.item());
      loss.backward();
      optimizer.step();
    }
    CHECK(relative_error(losses, run.losses) < tolerance);
    CHECK(relative_error(lesson.parameters(), run.parameters) < tolerance);
  }
}

// The message of the error that these options are.
std::string error_of(const optim::SGDOptions& options) {
  Model<Classifier, Host> net(test_device<Host>());
  try {
    const optim::SGD optimizer(net, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE_TEMPLATE("20 steps of SGD are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_trajectories<D, double>(1e-13);
  check_trajectories<D, float>(1e-6);
}

TEST_CASE_TEMPLATE("zero_grad and then step does nothing", D, GPUNET_TEST_DEVICES) {
  Lesson<D, float> lesson;
  optim::SGD optimizer(lesson.net, {.lr = 0.1f, .momentum = 0.9f, .weight_decay = 0.1f});
  const std::vector<float> before = lesson.parameters();
  optimizer.step();  // no backward pass yet
  CHECK(lesson.parameters() == before);
  auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
  loss.backward();
  optimizer.zero_grad();
  optimizer.step();
  CHECK(lesson.parameters() == before);
  optimizer.step();
  CHECK(lesson.parameters() == before);
}

TEST_CASE_TEMPLATE("a step may be repeated with the same gradients", D, GPUNET_TEST_DEVICES) {
  Lesson<D, double> lesson;
  optim::SGD optimizer(lesson.net, {.lr = 0.5f});
  const std::vector<double> before = lesson.parameters();
  auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
  loss.backward();
  optimizer.step();
  const std::vector<double> once = lesson.parameters();
  optimizer.step();
  const std::vector<double> twice = lesson.parameters();
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(twice[i] - once[i] == doctest::Approx(once[i] - before[i]).epsilon(1e-12));
}

TEST_CASE_TEMPLATE("the learning rate may change between steps", D, GPUNET_TEST_DEVICES) {
  Lesson<D, float> lesson;
  optim::SGD optimizer(lesson.net, {.lr = 0.5f});
  CHECK(optimizer.lr() == 0.5f);
  optimizer.set_lr(0);
  CHECK(optimizer.lr() == 0);
  const std::vector<float> before = lesson.parameters();
  auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
  loss.backward();
  optimizer.step();
  CHECK(lesson.parameters() == before);
}

TEST_CASE("options that make no sense") {
  const float nan = std::nanf("");
  CHECK(error_of({.lr = -0.5f}) == "gpunet::optim::SGD: invalid learning rate -0.5 (want 0 or more)");
  CHECK(error_of({.lr = nan}) == "gpunet::optim::SGD: invalid learning rate nan (want 0 or more)");
  CHECK(error_of({.momentum = -1}) == "gpunet::optim::SGD: invalid momentum -1 (want 0 or more)");
  CHECK(error_of({.weight_decay = -1}) == "gpunet::optim::SGD: invalid weight_decay -1 (want 0 or more)");
  const std::string nesterov = "gpunet::optim::SGD: Nesterov momentum requires a momentum and zero dampening";
  CHECK(error_of({.nesterov = true}) == nesterov);
  CHECK(error_of({.momentum = 0.9f, .dampening = 0.1f, .nesterov = true}) == nesterov);
  CHECK(error_of({.lr = 0, .momentum = 0.9f, .weight_decay = 0, .nesterov = true}) == "");
}
