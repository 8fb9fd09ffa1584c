// Shared by the tests of optimizers.
#pragma once

#include <doctest/doctest.h>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/networks.hpp"
#include "support/reference_file.hpp"

using Classifier = gpunet::nn::Sequential<gpunet::nn::Input<4>, gpunet::nn::Linear<3>>;

// A classifier with the parameters of reference/optimizers.py, and a batch for it.
template <class D, class T>
struct ClassifierLesson {
  ClassifierLesson() {
    std::vector<T> arena = parameters_of(net);
    const auto& named = net.named_parameters();
    const std::vector<T> weight = pattern<T>(12, 5, 1, 17), bias = pattern<T>(3, 3, 2, 7);
    std::copy(weight.begin(), weight.end(), arena.data() + named[0].offset);
    std::copy(bias.begin(), bias.end(), arena.data() + named[1].offset);
    device.upload(net.parameters().data(), arena.data(), arena.size() * sizeof(T));
  }

  // Weight and bias.
  std::vector<T> parameters() const {
    const std::vector<T> arena = parameters_of(net);
    std::vector<T> values;
    for (const auto& parameter : net.named_parameters()) {
      const T* first = arena.data() + parameter.offset;
      values.insert(values.end(), first, first + parameter.sizes.numel());
    }
    return values;
  }

  // A forward and a backward pass; returns the loss.
  T backward() {
    auto loss = criterion(net(inputs), labels);
    const T value = loss.item();
    loss.backward();
    return value;
  }

  D& device = test_device<D>();
  gpunet::Model<Classifier, D, T> net{device};
  gpunet::nn::CrossEntropyLoss criterion;
  gpunet::Tensor<T, D> inputs{device, {5, 4}, pattern<T>(20, 7, 3, 23)};
  gpunet::Tensor<gpunet::label_t, D> labels{device, {5}, {0, 2, 1, 1, 0}};
};

// The options of a run of reference/optimizers.py.
template <class Options>
struct OptimizerRun {
  std::string name;
  Options options;
};

// Trains as the reference did, which has the losses before every 50th step, and compares losses and
// final parameters. On Cuda, which may be a simulator, it compares two losses only: the functor of
// a step is the same there.
template <template <class, class> class Optimizer, class D, class T, class Runs>
void check_runs(const std::string& optimizer_name, const Runs& runs, double tolerance) {
  static const ReferenceFile file("optimizers");
  CHECK(file.names(optimizer_name + ".").size() == 2 * std::size(runs));
  for (const auto& run : runs) {
    CAPTURE(run.name);
    const std::string key = optimizer_name + "." + run.name;
    const std::vector<double> all_losses = file.values(key + ".losses");
    ClassifierLesson<D, T> lesson;
    Optimizer optimizer(lesson.net, run.options);
    const bool all = std::is_same_v<D, gpunet::Host>;
    const std::vector<double> expected(all_losses.begin(),
                                       all ? all_losses.end() : all_losses.begin() + 2);
    std::vector<double> losses;
    for (std::size_t step = 0; step < (all ? 50 * expected.size() : 51); ++step) {
      optimizer.zero_grad();
      const double loss = lesson.backward();
      if (step % 50 == 0) losses.push_back(loss);
      optimizer.step();
    }
    CHECK(relative_error(losses, expected) < tolerance);
    if (all)
      CHECK(relative_error(lesson.parameters(), file.values(key + ".parameters")) < tolerance);
  }
}

// Checks that steps do nothing before the first backward pass and after zero_grad().
template <class Lesson, class Optimizer>
void check_steps_without_gradients(Lesson& lesson, Optimizer& optimizer) {
  const auto before = lesson.parameters();
  optimizer.step();
  CHECK(lesson.parameters() == before);
  lesson.backward();
  optimizer.zero_grad();
  optimizer.step();
  CHECK(lesson.parameters() == before);
  optimizer.step();
  CHECK(lesson.parameters() == before);
}

// Checks that a step with a learning rate of 0 keeps the parameters.
template <class Lesson, class Optimizer>
void check_change_of_rate(Lesson& lesson, Optimizer& optimizer) {
  optimizer.set_lr(0);
  CHECK(optimizer.lr() == 0);
  const auto before = lesson.parameters();
  lesson.backward();
  optimizer.step();
  CHECK(lesson.parameters() == before);
}

// Checks that a train::Step takes the same steps as the loop: bitwise on Host; on Cuda, which
// records the second one, but for multiplications and additions that only one of two kernels fuses.
template <template <class, class> class Optimizer, class D, class Options>
void check_recorded_steps(const Options& options) {
  D& device = test_device<D>();
  gpunet::manual_seed(3);
  gpunet::Model<SmallNet, D, double> looped(device), stepped(device);
  stepped.copy_state(looped);
  Optimizer<D, double> loop_optimizer(looped, options), step_optimizer(stepped, options);
  const gpunet::nn::CrossEntropyLoss criterion;
  gpunet::train::Step step(stepped, criterion, step_optimizer);
  gpunet::Generator generator(3);
  for (int i = 0; i < 4; ++i) {
    const TestBatch<double, D> data(device, SmallNet{}, 3, generator);
    eager_step(looped, criterion, loop_optimizer, data);
    step(data.inputs, data.labels);
  }
  CHECK(step.recording(3).recorded != std::is_same_v<D, gpunet::Host>);
  const double tolerance = std::is_same_v<D, gpunet::Host> ? 0 : 1e-12;
  CHECK(relative_error(parameters_of(stepped), parameters_of(looped)) <= tolerance);
}

// Returns the message of the error that the options cause.
template <template <class, class> class Optimizer, class Options>
std::string error_of(const Options& options) {
  gpunet::Model<Classifier, gpunet::Host> net(test_device<gpunet::Host>());
  try {
    const Optimizer optimizer(net, options);
  } catch (const gpunet::Error& error) {
    return error.what();
  }
  return "";
}
