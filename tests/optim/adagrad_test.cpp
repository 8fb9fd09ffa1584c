#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/optim/adagrad.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// As in reference/optimizers.py.
const OptimizerRun<optim::AdagradOptions> adagrad_runs[] = {
    {"defaults", {}},
    {"a large rate", {.lr = 0.5}},
    {"rate decay", {.lr = 0.5, .lr_decay = 0.1}},
    {"weight decay", {.lr = 0.1, .weight_decay = 0.05}},
    {"initial value", {.lr = 0.1, .initial_accumulator_value = 0.5, .eps = 0.01}},
};

std::string error_of_adagrad(const optim::AdagradOptions& options) {
  return error_of<optim::Adagrad>(options);
}

}  // namespace

TEST_CASE_TEMPLATE("1000 steps of Adagrad are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_runs<optim::Adagrad, D, double>("Adagrad", adagrad_runs, 1e-12);
  check_runs<optim::Adagrad, D, float>("Adagrad", adagrad_runs, 1e-5);
}

TEST_CASE_TEMPLATE("zero_grad and then a step of Adagrad does nothing", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::Adagrad optimizer(lesson.net, {.lr = 0.1, .weight_decay = 0.1});
  CHECK(optimizer.arrays() == 3);
  check_steps_without_gradients(lesson, optimizer);
}

TEST_CASE_TEMPLATE("the learning rate of Adagrad may change between steps", D,
                   GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::Adagrad optimizer(lesson.net, {});
  CHECK(optimizer.lr() == 0.01);
  check_change_of_rate(lesson, optimizer);
}

TEST_CASE_TEMPLATE("a recorded step of Adagrad is the loop's", D, GPUNET_TEST_DEVICES) {
  check_recorded_steps<optim::Adagrad, D>(optim::AdagradOptions{
      .lr_decay = 0.1, .weight_decay = 0.01, .initial_accumulator_value = 0.25});
}

TEST_CASE("Adagrad has no momentum that a schedule could change") {
  ClassifierLesson<Host, float> lesson;
  optim::Adagrad optimizer(lesson.net, {});
  CHECK(optimizer.momentum() == 0);
  const std::string error = error_of([&] {
    optim::lr_scheduler::OneCycleLR schedule(optimizer, {.max_lr = 1, .total_steps = 10});
  });
  CHECK(error ==
        "gpunet::optim::Adagrad: has no momentum (a schedule of one would change nothing), for "
        "OneCycleLR set "
        "cycle_momentum to false");
  CHECK(optimizer.lr() == 0.01);
  optim::lr_scheduler::OneCycleLR schedule(
      optimizer, {.max_lr = 1, .total_steps = 10, .cycle_momentum = false});
  CHECK(optimizer.lr() == doctest::Approx(0.04));
}

TEST_CASE("options of Adagrad that make no sense") {
  CHECK(error_of_adagrad({.lr = -0.5}) ==
        "gpunet::optim::Adagrad: invalid learning rate -0.5 (want 0 or more, and finite)");
  CHECK(error_of_adagrad({.lr = std::nan("")}) ==
        "gpunet::optim::Adagrad: invalid learning rate nan (want 0 or more, and finite)");
  CHECK(error_of_adagrad({.weight_decay = -1}) ==
        "gpunet::optim::Adagrad: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of_adagrad({.eps = -1}) ==
        "gpunet::optim::Adagrad: invalid epsilon value -1 (want 0 or more, and finite)");
  CHECK(error_of_adagrad({.eps = std::numeric_limits<double>::infinity()}) ==
        "gpunet::optim::Adagrad: invalid epsilon value inf (want 0 or more, and finite)");
  CHECK(error_of_adagrad({.lr_decay = -1}) ==
        "gpunet::optim::Adagrad: invalid lr_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of_adagrad({.initial_accumulator_value = -1}) ==
        "gpunet::optim::Adagrad: invalid initial_accumulator_value value -1 (want 0 or more, and "
        "finite)");
  CHECK(error_of_adagrad({.lr = 0, .eps = 0}) == "");
}
