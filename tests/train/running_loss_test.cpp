#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <utility>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"

using namespace gpunet;

namespace {

using Identity = nn::Sequential<nn::Input<2>, nn::Flatten>;

// The loss of class 0 for the logits (x, 0): log(1 + exp(-x)).
double loss_of(float x) {
  return std::log1p(std::exp(-static_cast<double>(x)));
}

}  // namespace

TEST_CASE_TEMPLATE("RunningLoss is the mean since the last reset", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity, D> net(device);
  const nn::CrossEntropyLoss criterion;
  const Tensor<label_t, D> label(device, {1}, {0});
  train::RunningLoss running_loss(device);
  CHECK(std::isnan(running_loss.item()));
  const auto add = [&](float x) {
    const Tensor<float, D> logits(device, {1, 2}, {x, 0});
    running_loss += criterion(net(logits), label);
  };
  add(1);
  add(-2);
  CHECK(running_loss.item() == doctest::Approx((loss_of(1) + loss_of(-2)) / 2).epsilon(1e-6));
  running_loss.reset();
  add(3);
  CHECK(running_loss.item() == doctest::Approx(loss_of(3)).epsilon(1e-6));
  CHECK(running_loss.first_not_finite() == -1);
}

TEST_CASE_TEMPLATE("RunningLoss remembers the first step whose loss was not finite", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Model<Identity, D> net(device);
    const nn::CrossEntropyLoss criterion;
    const Tensor<label_t, D> label(device, {1}, {0});
    train::RunningLoss running_loss(device);
    for (const float x : {1.0f, 2.0f, bad, 1.0f, bad}) {
      const Tensor<float, D> logits(device, {1, 2}, {x, 0});
      running_loss += criterion(net(logits), label);
      if (x == 2.0f) running_loss.reset();  // steps go on being counted
    }
    CHECK(running_loss.first_not_finite() == 2);
  }
}

TEST_CASE_TEMPLATE("RunningLoss can be the mean over samples", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity, D> net(device);
  const nn::CrossEntropyLoss criterion;
  const Tensor<label_t, D> label(device, {1}, {0});
  train::RunningLoss running_loss(device);
  for (const auto& [x, samples] : {std::pair{1.0f, 3}, std::pair{-2.0f, 1}}) {
    const Tensor<float, D> logits(device, {1, 2}, {x, 0});
    running_loss.update(criterion(net(logits), label), samples);
  }
  CHECK(running_loss.item() == doctest::Approx((3 * loss_of(1) + loss_of(-2)) / 4).epsilon(1e-6));
}
