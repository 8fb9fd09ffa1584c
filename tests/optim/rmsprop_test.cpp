#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/optim/rmsprop.hpp>

#include "support/classifier_lesson.hpp"

using namespace gpunet;

namespace {

// As in reference/optimizers.py.
const OptimizerRun<optim::RMSpropOptions> rmsprop_runs[] = {
    {"defaults", {.lr = 0.001}},
    {"alpha", {.lr = 0.01, .alpha = 0.8, .eps = 0.01}},
    {"weight decay", {.lr = 0.01, .eps = 0.1, .weight_decay = 0.05}},
    {"momentum", {.lr = 0.001, .momentum = 0.9}},
    {"centred", {.lr = 0.001, .centered = true}},
    {"centred, with momentum",
     {.lr = 0.002,
      .alpha = 0.9,
      .eps = 0.1,
      .weight_decay = 0.01,
      .momentum = 0.5,
      .centered = true}},
};

std::string error_of_rmsprop(const optim::RMSpropOptions& options) {
  return error_of<optim::RMSprop>(options);
}

}  // namespace

TEST_CASE_TEMPLATE("1000 steps of RMSprop are PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_runs<optim::RMSprop, D, double>("RMSprop", rmsprop_runs, 1e-12);
  check_runs<optim::RMSprop, D, float>("RMSprop", rmsprop_runs, 1e-5);
}

TEST_CASE_TEMPLATE("zero_grad and then a step of RMSprop does nothing", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::RMSprop optimizer(lesson.net,
                           {.lr = 0.1, .weight_decay = 0.1, .momentum = 0.5, .centered = true});
  CHECK(optimizer.arrays() == 5);
  check_steps_without_gradients(lesson, optimizer);
}

TEST_CASE_TEMPLATE("centred RMSprop stays finite where the gradient never changes", D,
                   GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  optim::RMSprop optimizer(lesson.net, {.lr = 1e-12, .alpha = 0.1, .centered = true});
  lesson.backward();
  // Its square and the square of its mean become equal, but for rounding.
  for (int step = 0; step < 100; ++step)
    optimizer.step();
  for (float parameter : lesson.parameters())
    CHECK(std::isfinite(parameter));
}

TEST_CASE("options of RMSprop that make no sense") {
  CHECK(error_of_rmsprop({.lr = -0.5}) ==
        "gpunet::optim::RMSprop: invalid learning rate -0.5 (want 0 or more, and finite)");
  CHECK(error_of_rmsprop({.alpha = -1}) ==
        "gpunet::optim::RMSprop: invalid alpha value -1 (want 0 to 1)");
  CHECK(error_of_rmsprop({.alpha = 1.5}) ==
        "gpunet::optim::RMSprop: invalid alpha value 1.5 (want 0 to 1)");
  CHECK(error_of_rmsprop({.eps = -1}) ==
        "gpunet::optim::RMSprop: invalid epsilon value -1 (want 0 or more, and finite)");
  CHECK(error_of_rmsprop({.weight_decay = -1}) ==
        "gpunet::optim::RMSprop: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(error_of_rmsprop({.momentum = -1}) ==
        "gpunet::optim::RMSprop: invalid momentum value -1 (want 0 or more, and finite)");
  CHECK(error_of_rmsprop({.lr = 0, .eps = 0}) == "");
}
