#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/classifier_lesson.hpp"

using namespace gpunet;

namespace {

// As in reference/optimizers.py.
const OptimizerRun<optim::AdamOptions> adam_runs[] = {
    {"defaults", {}},
    {"a large rate", {.lr = 0.1}},
    {"betas", {.lr = 0.02, .betas = {0.5, 0.75}, .eps = 0.01}},
    {"no memory", {.lr = 0.01, .betas = {0.0, 0.0}, .eps = 0.5}},
    {"a large epsilon", {.lr = 0.05, .eps = 0.1}},
    {"weight decay", {.lr = 0.01, .eps = 0.1, .weight_decay = 0.05}},
    {"decoupled weight decay", {.lr = 0.01, .weight_decay = 0.05, .decoupled_weight_decay = true}},
    {"AMSGrad", {.lr = 0.01, .amsgrad = true}},
    {"AMSGrad and weight decay",
     {.lr = 0.02, .betas = {0.8, 0.9}, .eps = 0.1, .weight_decay = 0.05, .amsgrad = true}},
};
const OptimizerRun<optim::AdamWOptions> adamw_runs[] = {
    {"defaults", {}},
    {"weight decay", {.lr = 0.01, .weight_decay = 0.1}},
    {"no weight decay", {.lr = 0.01, .weight_decay = 0.0}},
    {"AMSGrad",
     {.lr = 0.02, .betas = {0.8, 0.95}, .eps = 0.01, .weight_decay = 0.2, .amsgrad = true}},
};

std::string error_of_adam(const optim::AdamOptions& options) {
  return error_of<optim::Adam>(options);
}

}  // namespace

TEST_CASE_TEMPLATE("1000 steps of Adam are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_runs<optim::Adam, D, double>("Adam", adam_runs, 1e-12);
  check_runs<optim::Adam, D, float>("Adam", adam_runs, 1e-5);
}

TEST_CASE_TEMPLATE("1000 steps of AdamW are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_runs<optim::AdamW, D, double>("AdamW", adamw_runs, 1e-12);
  check_runs<optim::AdamW, D, float>("AdamW", adamw_runs, 1e-5);
}

TEST_CASE_TEMPLATE("zero_grad and then a step of Adam does nothing", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::Adam optimizer(lesson.net, {.lr = 0.1, .weight_decay = 0.1});
  check_steps_without_gradients(lesson, optimizer);
}

TEST_CASE_TEMPLATE("the first step of Adam is as long as the learning rate", D,
                   GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, double> lesson;
  optim::Adam optimizer(lesson.net, {.lr = 0.25, .eps = 0});
  const std::vector<double> before = lesson.parameters();
  lesson.backward();
  optimizer.step();
  const std::vector<double> after = lesson.parameters();
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(std::abs(after[i] - before[i]) == doctest::Approx(0.25).epsilon(1e-12));
}

TEST_CASE_TEMPLATE("the learning rate of Adam may change between steps", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::Adam optimizer(lesson.net, {});
  CHECK(optimizer.lr() == 0.001);
  check_change_of_rate(lesson, optimizer);
}

TEST_CASE_TEMPLATE("a recorded step of Adam or AdamW is the loop's", D, GPUNET_TEST_DEVICES) {
  check_recorded_steps<optim::Adam, D>(
      optim::AdamOptions{.lr = 0.01, .weight_decay = 0.1, .amsgrad = true});
  check_recorded_steps<optim::AdamW, D>(optim::AdamWOptions{.lr = 0.01, .weight_decay = 0.1});
}

TEST_CASE("options of Adam that make no sense") {
  const double nan = std::nan("");
  CHECK(error_of_adam({.lr = -0.5}) ==
        "gpunet::optim::Adam: invalid learning rate -0.5 (want 0 or more, and finite)");
  CHECK(error_of_adam({.lr = nan}) ==
        "gpunet::optim::Adam: invalid learning rate nan (want 0 or more, and finite)");
  CHECK(error_of_adam({.eps = std::numeric_limits<double>::infinity()}) ==
        "gpunet::optim::Adam: invalid epsilon value inf (want 0 or more, and finite)");
  CHECK(error_of_adam({.eps = -1}) ==
        "gpunet::optim::Adam: invalid epsilon value -1 (want 0 or more, and finite)");
  CHECK(
      error_of_adam({.betas = {1, 0.5}}) ==
      "gpunet::optim::Adam: invalid beta parameter at index 0: 1 (want 0 or more and less than 1)");
  CHECK(error_of_adam({.betas = {0.5, -0.5}}) ==
        "gpunet::optim::Adam: invalid beta parameter at index 1: -0.5 (want 0 or more and less "
        "than 1)");
  CHECK(error_of_adam({.weight_decay = -1}) ==
        "gpunet::optim::Adam: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of<optim::AdamW>(optim::AdamWOptions{.weight_decay = -1}) ==
        "gpunet::optim::AdamW: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of_adam({.lr = 0, .betas = {0, 0}, .eps = 0}) == "");
}
