#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/optim/radam.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// As in reference/optimizers.py.
const OptimizerRun<optim::RAdamOptions> radam_runs[] = {
    {"defaults", {}},
    {"betas", {.lr = 0.02, .betas = {0.5, 0.9}, .eps = 0.01}},
    {"never adapted", {.lr = 0.01, .betas = {0.9, 0.5}}},
    {"weight decay", {.lr = 0.01, .eps = 0.1, .weight_decay = 0.05}},
    {"decoupled weight decay", {.lr = 0.01, .weight_decay = 0.05, .decoupled_weight_decay = true}},
};

std::string error_of_radam(const optim::RAdamOptions& options) {
  return error_of<optim::RAdam>(options);
}

}  // namespace

TEST_CASE_TEMPLATE("1000 steps of RAdam are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_runs<optim::RAdam, D, double>("RAdam", radam_runs, 1e-12);
  check_runs<optim::RAdam, D, float>("RAdam", radam_runs, 1e-5);
}

TEST_CASE_TEMPLATE("zero_grad and then a step of RAdam does nothing", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::RAdam optimizer(lesson.net, {.lr = 0.1, .weight_decay = 0.1});
  CHECK(optimizer.arrays() == 4);
  check_steps_without_gradients(lesson, optimizer);
}

TEST_CASE_TEMPLATE("the learning rate of RAdam may change between steps", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::RAdam optimizer(lesson.net, {});
  CHECK(optimizer.lr() == 0.001);
  check_change_of_rate(lesson, optimizer);
}

TEST_CASE_TEMPLATE("a recorded step of RAdam is the loop's", D, GPUNET_TEST_DEVICES) {
  check_recorded_steps<optim::RAdam, D>(
      optim::RAdamOptions{.lr = 0.01, .betas = {0.9, 0.99}, .weight_decay = 0.01});
}

TEST_CASE_TEMPLATE("the first step of RAdam is the gradient times the learning rate", D,
                   GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, double> lesson;
  optim::RAdam optimizer(lesson.net, {.lr = 0.25});
  const std::vector<double> before = lesson.parameters();
  lesson.backward();
  const std::vector<double> gradients = gradients_of(lesson.net);
  optimizer.step();
  const std::vector<double> after = lesson.parameters();
  const index_t bias = lesson.net.named_parameters()[1].offset;
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(before[12 + i] - after[12 + i] ==
          doctest::Approx(0.25 * gradients[static_cast<std::size_t>(bias) + i]).epsilon(1e-12));
}

TEST_CASE("options of RAdam that make no sense") {
  CHECK(error_of_radam({.lr = -0.5}) ==
        "gpunet::optim::RAdam: invalid learning rate -0.5 (want 0 or more, and finite)");
  CHECK(error_of_radam({.lr = std::nan("")}) ==
        "gpunet::optim::RAdam: invalid learning rate nan (want 0 or more, and finite)");
  CHECK(error_of_radam({.weight_decay = -1}) ==
        "gpunet::optim::RAdam: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of_radam({.eps = -1}) ==
        "gpunet::optim::RAdam: invalid epsilon value -1 (want 0 or more, and finite)");
  CHECK(error_of_radam({.eps = std::numeric_limits<double>::infinity()}) ==
        "gpunet::optim::RAdam: invalid epsilon value inf (want 0 or more, and finite)");
  CHECK(error_of_radam({.betas = {1, 0.5}}) ==
        "gpunet::optim::RAdam: invalid beta parameter at index 0: 1 (want 0 or more and less than "
        "1)");
  CHECK(error_of_radam({.betas = {0.5, -0.5}}) ==
        "gpunet::optim::RAdam: invalid beta parameter at index 1: -0.5 (want 0 or more and less "
        "than 1)");
  CHECK(error_of_radam({.betas = {0.5, std::nan("")}}) ==
        "gpunet::optim::RAdam: invalid beta parameter at index 1: nan (want 0 or more and less "
        "than 1)");
  CHECK(error_of_radam({.lr = 0, .betas = {0, 0}, .eps = 0}) == "");
}
