#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/optim/adadelta.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// As in reference/optimizers.py.
const OptimizerRun<optim::AdadeltaOptions> adadelta_runs[] = {
    {"defaults", {}},
    {"a small rate", {.lr = 0.1}},
    {"rho", {.lr = 0.5, .rho = 0.5, .eps = 0.01}},
    {"weight decay", {.lr = 0.5, .eps = 0.01, .weight_decay = 0.05}},
};

std::string error_of_adadelta(const optim::AdadeltaOptions& options) {
  return error_of<optim::Adadelta>(options);
}

}  // namespace

TEST_CASE_TEMPLATE("1000 steps of Adadelta are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_runs<optim::Adadelta, D, double>("Adadelta", adadelta_runs, 1e-12);
  check_runs<optim::Adadelta, D, float>("Adadelta", adadelta_runs, 1e-5);
}

TEST_CASE_TEMPLATE("zero_grad and then a step of Adadelta does nothing", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::Adadelta optimizer(lesson.net, {.lr = 0.1, .weight_decay = 0.1});
  CHECK(optimizer.arrays() == 4);
  check_steps_without_gradients(lesson, optimizer);
}

TEST_CASE_TEMPLATE("the learning rate of Adadelta may change between steps", D,
                   GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::Adadelta optimizer(lesson.net, {});
  CHECK(optimizer.lr() == 1);
  check_change_of_rate(lesson, optimizer);
}

TEST_CASE_TEMPLATE("a recorded step of Adadelta is the loop's", D, GPUNET_TEST_DEVICES) {
  check_recorded_steps<optim::Adadelta, D>(
      optim::AdadeltaOptions{.rho = 0.5, .eps = 0.01, .weight_decay = 0.01});
}

TEST_CASE("Adadelta has no momentum that a schedule could change") {
  ClassifierLesson<Host, float> lesson;
  optim::Adadelta optimizer(lesson.net, {});
  CHECK(optimizer.momentum() == 0);
  const std::string error = error_of([&] {
    optim::lr_scheduler::OneCycleLR schedule(optimizer, {.max_lr = 1, .total_steps = 10});
  });
  CHECK(error ==
        "gpunet::optim::Adadelta: has no momentum (a schedule of one would change nothing), for "
        "OneCycleLR set "
        "cycle_momentum to false");
  CHECK(optimizer.lr() == 1);
  optim::lr_scheduler::OneCycleLR schedule(
      optimizer, {.max_lr = 1, .total_steps = 10, .cycle_momentum = false});
  CHECK(optimizer.lr() == doctest::Approx(0.04));
}

TEST_CASE("options of Adadelta that make no sense") {
  CHECK(error_of_adadelta({.lr = -0.5}) ==
        "gpunet::optim::Adadelta: invalid learning rate -0.5 (want 0 or more, and finite)");
  CHECK(error_of_adadelta({.lr = std::nan("")}) ==
        "gpunet::optim::Adadelta: invalid learning rate nan (want 0 or more, and finite)");
  CHECK(error_of_adadelta({.weight_decay = -1}) ==
        "gpunet::optim::Adadelta: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of_adadelta({.eps = -1}) ==
        "gpunet::optim::Adadelta: invalid epsilon value -1 (want 0 or more, and finite)");
  CHECK(error_of_adadelta({.eps = std::numeric_limits<double>::infinity()}) ==
        "gpunet::optim::Adadelta: invalid epsilon value inf (want 0 or more, and finite)");
  CHECK(error_of_adadelta({.rho = -0.1}) ==
        "gpunet::optim::Adadelta: invalid rho value -0.1 (want 0 to 1)");
  CHECK(error_of_adadelta({.rho = 1.5}) ==
        "gpunet::optim::Adadelta: invalid rho value 1.5 (want 0 to 1)");
  CHECK(error_of_adadelta({.lr = 0, .rho = 1, .eps = 0}) == "");
}
