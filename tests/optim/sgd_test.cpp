#include <doctest/doctest.h>
#include <limits>
#include <utility>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/classifier_lesson.hpp"

using namespace gpunet;

namespace {

// As in reference/optimizers.py.
const OptimizerRun<optim::SGDOptions> sgd_runs[] = {
    {"plain", {.lr = 0.1}},
    {"momentum", {.lr = 0.01, .momentum = 0.9}},
    {"dampening", {.lr = 0.1, .momentum = 0.9, .dampening = 0.3}},
    {"weight decay", {.lr = 0.1, .weight_decay = 0.05}},
    {"weight decay and momentum",
     {.lr = 0.1, .momentum = 0.5, .dampening = 0.25, .weight_decay = 0.05}},
    {"Nesterov", {.lr = 0.01, .momentum = 0.9, .nesterov = true}},
    {"Nesterov and weight decay",
     {.lr = 0.05, .momentum = 0.8, .weight_decay = 0.1, .nesterov = true}},
};

std::string error_of_sgd(const optim::SGDOptions& options) {
  return error_of<optim::SGD>(options);
}

}  // namespace

TEST_CASE_TEMPLATE("1000 steps of SGD are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_runs<optim::SGD, D, double>("SGD", sgd_runs, 1e-12);
  check_runs<optim::SGD, D, float>("SGD", sgd_runs, 1e-5);
}

TEST_CASE_TEMPLATE("zero_grad and then step does nothing", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::SGD optimizer(lesson.net, {.lr = 0.1f, .momentum = 0.9f, .weight_decay = 0.1f});
  check_steps_without_gradients(lesson, optimizer);
}

TEST_CASE_TEMPLATE("a step may be repeated with the same gradients", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, double> lesson;
  optim::SGD optimizer(lesson.net, {.lr = 0.5f});
  const std::vector<double> before = lesson.parameters();
  lesson.backward();
  optimizer.step();
  const std::vector<double> once = lesson.parameters();
  optimizer.step();
  const std::vector<double> twice = lesson.parameters();
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(twice[i] - once[i] == doctest::Approx(once[i] - before[i]).epsilon(1e-12));
}

TEST_CASE_TEMPLATE("the learning rate may change between steps", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::SGD optimizer(lesson.net, {.lr = 0.5f});
  CHECK(optimizer.lr() == 0.5f);
  check_change_of_rate(lesson, optimizer);
}

TEST_CASE_TEMPLATE("a momentum that begins late begins with the gradient", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, double> late, plain;
  optim::SGD late_optimizer(late.net, {.lr = 0.5, .dampening = 0.5}),
      plain_optimizer(plain.net, {.lr = 0.5});
  for (int step = 0; step < 3; ++step) {
    if (step == 2) late_optimizer.set_momentum(0.5);
    CHECK(late_optimizer.arrays() == (step == 2 ? 3 : 2));
    late.backward();
    late_optimizer.step();
    plain.backward();
    plain_optimizer.step();
    CHECK(late.parameters() == plain.parameters());
  }
}

TEST_CASE_TEMPLATE("an optimizer may be moved", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, double> moved, whole;
  optim::SGD first(moved.net, {.lr = 0.5, .momentum = 0.5}),
      optimizer(whole.net, {.lr = 0.5, .momentum = 0.5});
  moved.backward();
  first.step();
  optim::SGD second(std::move(first));
  second.step();
  whole.backward();
  optimizer.step();
  optimizer.step();
  CHECK(moved.parameters() == whole.parameters());
}

TEST_CASE("options that make no sense") {
  const float nan = std::nanf("");
  CHECK(error_of_sgd({.lr = -0.5f}) ==
        "gpunet::optim::SGD: invalid learning rate -0.5 (want 0 or more, and finite)");
  CHECK(error_of_sgd({.lr = nan}) ==
        "gpunet::optim::SGD: invalid learning rate nan (want 0 or more, and finite)");
  CHECK(error_of_sgd({.lr = std::numeric_limits<double>::infinity()}) ==
        "gpunet::optim::SGD: invalid learning rate inf (want 0 or more, and finite)");
  CHECK(error_of_sgd({.lr = 1e39}) ==
        "gpunet::optim::SGD: invalid learning rate 1e+39 (want less than 3.4e38, as a float is)");
  CHECK(error_of_sgd({.lr = 1e300}) != "");
  CHECK(error_of_sgd({.lr = 3.4e38}) == "");
  CHECK(error_of_sgd({.momentum = -1}) ==
        "gpunet::optim::SGD: invalid momentum value -1 (want 0 or more, and finite)");
  CHECK(error_of_sgd({.weight_decay = -1}) ==
        "gpunet::optim::SGD: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of_sgd({.dampening = nan}) ==
        "gpunet::optim::SGD: invalid dampening nan (want a finite number)");
  CHECK(error_of_sgd({.dampening = 1e39}) ==
        "gpunet::optim::SGD: invalid dampening 1e+39 (want -3.4e38 to 3.4e38, as a float is)");
  CHECK(error_of_sgd({.dampening = -1e39}) ==
        "gpunet::optim::SGD: invalid dampening -1e+39 (want -3.4e38 to 3.4e38, as a float is)");
  CHECK(error_of_sgd({.dampening = -3.4e38}) == "");
  const std::string nesterov =
      "gpunet::optim::SGD: Nesterov momentum requires a momentum and zero dampening, set them or "
      "leave nesterov "
      "out";
  CHECK(error_of_sgd({.nesterov = true}) == nesterov);
  CHECK(error_of_sgd({.momentum = 0.9f, .dampening = 0.1f, .nesterov = true}) == nesterov);
  CHECK(error_of_sgd({.lr = 0, .momentum = 0.9f, .weight_decay = 0, .nesterov = true}) == "");
}
