#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/optim/nadam.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// As in reference/optimizers.py.
const OptimizerRun<optim::NAdamOptions> nadam_runs[] = {
    {"defaults", {}},
    {"betas", {.lr = 0.02, .betas = {0.5, 0.75}, .eps = 0.01}},
    {"no memory", {.lr = 0.01, .betas = {0.0, 0.0}, .eps = 0.5}},
    {"momentum decay", {.lr = 0.01, .momentum_decay = 0.5}},
    {"no momentum decay", {.lr = 0.01, .momentum_decay = 0.0}},
    {"weight decay", {.lr = 0.01, .eps = 0.1, .weight_decay = 0.05}},
    {"decoupled weight decay", {.lr = 0.01, .weight_decay = 0.05, .decoupled_weight_decay = true}},
};

std::string error_of_nadam(const optim::NAdamOptions& options) {
  return error_of<optim::NAdam>(options);
}

}  // namespace

TEST_CASE_TEMPLATE("1000 steps of NAdam are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_runs<optim::NAdam, D, double>("NAdam", nadam_runs, 1e-12);
  check_runs<optim::NAdam, D, float>("NAdam", nadam_runs, 1e-5);
}

TEST_CASE_TEMPLATE("zero_grad and then a step of NAdam does nothing", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::NAdam optimizer(lesson.net, {.lr = 0.1, .weight_decay = 0.1});
  CHECK(optimizer.arrays() == 4);
  check_steps_without_gradients(lesson, optimizer);
}

TEST_CASE_TEMPLATE("the learning rate of NAdam may change between steps", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::NAdam optimizer(lesson.net, {});
  CHECK(optimizer.lr() == 0.002);
  check_change_of_rate(lesson, optimizer);
}

TEST_CASE_TEMPLATE("a recorded step of NAdam is the loop's", D, GPUNET_TEST_DEVICES) {
  check_recorded_steps<optim::NAdam, D>(
      optim::NAdamOptions{.lr = 0.01, .weight_decay = 0.01, .momentum_decay = 0.1});
}

TEST_CASE("options of NAdam that make no sense") {
  CHECK(error_of_nadam({.lr = -0.5}) ==
        "gpunet::optim::NAdam: invalid learning rate -0.5 (want 0 or more, and finite)");
  CHECK(error_of_nadam({.lr = std::nan("")}) ==
        "gpunet::optim::NAdam: invalid learning rate nan (want 0 or more, and finite)");
  CHECK(error_of_nadam({.weight_decay = -1}) ==
        "gpunet::optim::NAdam: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of_nadam({.eps = -1}) ==
        "gpunet::optim::NAdam: invalid epsilon value -1 (want 0 or more, and finite)");
  CHECK(error_of_nadam({.eps = std::numeric_limits<double>::infinity()}) ==
        "gpunet::optim::NAdam: invalid epsilon value inf (want 0 or more, and finite)");
  CHECK(error_of_nadam({.betas = {1, 0.5}}) ==
        "gpunet::optim::NAdam: invalid beta parameter at index 0: 1 (want 0 or more and less than "
        "1)");
  CHECK(error_of_nadam({.betas = {0.5, -0.5}}) ==
        "gpunet::optim::NAdam: invalid beta parameter at index 1: -0.5 (want 0 or more and less "
        "than 1)");
  CHECK(error_of_nadam({.betas = {0.5, std::nan("")}}) ==
        "gpunet::optim::NAdam: invalid beta parameter at index 1: nan (want 0 or more and less "
        "than 1)");
  CHECK(error_of_nadam({.momentum_decay = -1}) ==
        "gpunet::optim::NAdam: invalid momentum_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of_nadam({.lr = 0, .betas = {0, 0}, .eps = 0, .momentum_decay = 0}) == "");
}
