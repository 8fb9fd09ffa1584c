#include "reference/sgd.hpp"

#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/classifier_lesson.hpp"

using namespace gpunet;

namespace {

template <class D, class T>
void check_trajectories(double tolerance) {
  for (const auto& run : reference::sgd_runs) {
    CAPTURE(run.name);
    ClassifierLesson<D, T> lesson;
    optim::SGD optimizer(lesson.net, {.lr = static_cast<float>(run.lr),
                                      .momentum = static_cast<float>(run.momentum),
                                      .dampening = static_cast<float>(run.dampening),
                                      .weight_decay = static_cast<float>(run.weight_decay),
                                      .nesterov = run.nesterov});
    check_run(lesson, optimizer, run, 1, tolerance);
  }
}

std::string error_of_sgd(const optim::SGDOptions& options) {
  return error_of<optim::SGD>(options);
}

}  // namespace

TEST_CASE_TEMPLATE("20 steps of SGD are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_trajectories<D, double>(1e-13);
  check_trajectories<D, float>(1e-6);
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

TEST_CASE("options that make no sense") {
  const float nan = std::nanf("");
  CHECK(error_of_sgd({.lr = -0.5f}) == "gpunet::optim::SGD: invalid learning rate -0.5 (want 0 or more)");
  CHECK(error_of_sgd({.lr = nan}) == "gpunet::optim::SGD: invalid learning rate nan (want 0 or more)");
  CHECK(error_of_sgd({.lr = std::numeric_limits<double>::infinity()}) ==
        "gpunet::optim::SGD: invalid learning rate inf (want 0 or more)");
  CHECK(error_of_sgd({.momentum = -1}) == "gpunet::optim::SGD: invalid momentum value -1 (want 0 or more)");
  CHECK(error_of_sgd({.weight_decay = -1}) == "gpunet::optim::SGD: invalid weight_decay value -1 (want 0 or more)");
  const std::string nesterov = "gpunet::optim::SGD: Nesterov momentum requires a momentum and zero dampening";
  CHECK(error_of_sgd({.nesterov = true}) == nesterov);
  CHECK(error_of_sgd({.momentum = 0.9f, .dampening = 0.1f, .nesterov = true}) == nesterov);
  CHECK(error_of_sgd({.lr = 0, .momentum = 0.9f, .weight_decay = 0, .nesterov = true}) == "");
}
