// Optimizers that are moved, and what holds them.
#include <doctest/doctest.h>
#include <memory>
#include <utility>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/errors.hpp"
#include "support/small_training.hpp"

using namespace gpunet;

namespace {

const char* const gone =
    "gpunet::optim::Optimizer: the object is gone (destroyed, or another one was assigned to it), "
    "but something "
    "made "
    "for it is still used, keep the object as long, or make that anew";

struct Fixture {
  Host device{{.threads = 1}};
  Model<nn::Sequential<nn::Input<3>, nn::Linear<2>>, Host> net{device};
  nn::CrossEntropyLoss criterion;
  Tensor<float, Host> x{device, {2, 3}, {1, 2, 3, 4, 5, 6}};
  Tensor<label_t, Host> y{device, {2}, {0, 1}};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a step follows an optimizer that is moved") {
  optim::SGD first(net, {.lr = 0.1, .momentum = 0.9});
  train::Step step(net, criterion, first);
  step(x, y);
  optim::SGD second(std::move(first));
  step(x, y);
  const auto moved = net.parameters().data()[0];
  manual_seed(default_generator().default_seed);
  Model<nn::Sequential<nn::Input<3>, nn::Linear<2>>, Host> other(device);
  CHECK(moved != other.parameters().data()[0]);
  std::vector<optim::SGD<Host, float>> all;
  all.push_back(std::move(second));
  all.reserve(100);
  CHECK(error_of([&] { step(x, y); }) == "");
}

TEST_CASE_FIXTURE(Fixture, "an optimizer that was moved from cannot be used") {
  optim::Adam first(net, {.lr = 0.1});
  const optim::Adam second(std::move(first));
  CHECK(error_of([&] { first.step(); }).find("gpunet::Model: the object is gone") == 0);
  CHECK(second.lr() == 0.1);
}

TEST_CASE_FIXTURE(Fixture, "a step of an optimizer that is gone says so") {
  auto optimizer = std::make_unique<optim::SGD<Host, float>>(net, optim::SGDOptions{.lr = 0.1});
  train::Step step(net, criterion, *optimizer);
  step(x, y);
  optimizer.reset();
  CHECK(error_of([&] { step(x, y); }) == gone);
}

TEST_CASE_FIXTURE(Fixture, "a schedule follows an optimizer that is moved") {
  optim::SGD first(net, {.lr = 0.1});
  optim::lr_scheduler::StepLR schedule(first, {.step_size = 1});
  optim::SGD second(std::move(first));
  schedule.step();
  CHECK(second.lr() == doctest::Approx(0.01));
  auto third = std::make_unique<optim::SGD<Host, float>>(net, optim::SGDOptions{.lr = 0.1});
  optim::lr_scheduler::ReduceLROnPlateau plateau(*third, {.patience = 0});
  third.reset();
  CHECK(error_of([&] {
          plateau.step(1);
          plateau.step(1);
        }) == gone);
}

TEST_CASE_FIXTURE(Fixture, "a loss of before an update cannot run backward") {
  optim::SGD optimizer(net, {.lr = 0.1});
  auto loss = criterion(net(x), y);
  loss.backward();
  optimizer.step();
  CHECK(error_of([&] { loss.backward(); }) ==
        "gpunet::LossValue::backward: the parameters have changed since this loss was computed (an "
        "optimizer's "
        "step, io::load, requires_grad or autocast; its activations belong to the old ones), run "
        "the model on the "
        "batch "
        "again");
  CHECK(error_of([&] { criterion(net(x), y).backward(); }) == "");
}
