#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/optim/lion.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// As in reference/optimizers.py.
const OptimizerRun<optim::LionOptions> lion_runs[] = {
    {"defaults", {}},
    {"betas", {.lr = 0.001, .betas = {0.95, 0.98}}},
    {"weight decay", {.lr = 0.001, .weight_decay = 0.1}},
};

std::string error_of_lion(const optim::LionOptions& options) {
  return error_of<optim::Lion>(options);
}

}  // namespace

TEST_CASE_TEMPLATE("1000 steps of Lion are those of its algorithm in PyTorch", D,
                   GPUNET_TEST_DEVICES) {
  check_runs<optim::Lion, D, double>("Lion", lion_runs, 1e-12);
  // In float an average may cross 0 a step earlier or later, which moves a parameter by 2 lr until
  // it is back.
  check_runs<optim::Lion, D, float>("Lion", lion_runs, 4 * 1e-3);
}

TEST_CASE_TEMPLATE("zero_grad and then a step of Lion does nothing", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::Lion optimizer(lesson.net, {.lr = 0.1, .weight_decay = 0.1});
  CHECK(optimizer.arrays() == 3);
  check_steps_without_gradients(lesson, optimizer);
}

TEST_CASE_TEMPLATE("the learning rate of Lion may change between steps", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::Lion optimizer(lesson.net, {});
  CHECK(optimizer.lr() == 1e-4);
  check_change_of_rate(lesson, optimizer);
}

TEST_CASE_TEMPLATE("a recorded step of Lion is the loop's", D, GPUNET_TEST_DEVICES) {
  check_recorded_steps<optim::Lion, D>(optim::LionOptions{.lr = 0.01, .weight_decay = 0.1});
}

TEST_CASE_TEMPLATE("every step of Lion is as long as the learning rate", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, double> lesson;
  optim::Lion optimizer(lesson.net, {.lr = 0.25});
  for (int step = 0; step < 3; ++step) {
    const std::vector<double> before = lesson.parameters();
    optimizer.zero_grad();
    lesson.backward();
    optimizer.step();
    const std::vector<double> after = lesson.parameters();
    for (std::size_t i = 0; i < before.size(); ++i)
      CHECK(std::abs(after[i] - before[i]) == 0.25);  // exact: the parameters are multiples of 1/8
  }
}

TEST_CASE("options of Lion that make no sense") {
  CHECK(error_of_lion({.lr = -0.5}) ==
        "gpunet::optim::Lion: invalid learning rate -0.5 (want 0 or more, and finite)");
  CHECK(error_of_lion({.lr = std::nan("")}) ==
        "gpunet::optim::Lion: invalid learning rate nan (want 0 or more, and finite)");
  CHECK(error_of_lion({.weight_decay = -1}) ==
        "gpunet::optim::Lion: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(
      error_of_lion({.betas = {1, 0.5}}) ==
      "gpunet::optim::Lion: invalid beta parameter at index 0: 1 (want 0 or more and less than 1)");
  CHECK(error_of_lion({.betas = {0.5, -0.5}}) ==
        "gpunet::optim::Lion: invalid beta parameter at index 1: -0.5 (want 0 or more and less "
        "than 1)");
  CHECK(error_of_lion({.betas = {0.5, std::nan("")}}) ==
        "gpunet::optim::Lion: invalid beta parameter at index 1: nan (want 0 or more and less than "
        "1)");
  CHECK(error_of_lion({.lr = 0, .betas = {0, 0}}) == "");
}
