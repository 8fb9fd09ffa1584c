#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/optim/lr_scheduler.hpp>

#include "reference/lr_schedulers.hpp"
#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using namespace gpunet::optim::lr_scheduler;

namespace {

// The numbers of an optimizer without the rest.
struct Numbers : optim::Rates {
  Numbers() : Rates("Numbers", 0.1, 0.9) {}
};

// As in reference/lr_schedulers.py.
double metric(int step) {
  return std::max(1.0 - step / 16.0, 0.5) + (step % 4) / 1024.0 + std::max(step - 40, 0) / 64.0;
}

// Half a unit in the last place is 1e-16; a compiler may fuse a multiplication and an addition.
bool is_same(double a, double b) {
  return std::abs(a - b) <= 1e-15 * std::abs(b);
}

template <class Schedule>
void check_curve(const optim::Rates& rates, Schedule& schedule, const reference::Schedule& expected) {
  for (std::size_t i = 0; i < expected.lr.size(); ++i) {
    CAPTURE(i);
    CHECK(is_same(rates.lr(), expected.lr[i]));
    CHECK(schedule.get_last_lr() == rates.lr());
    if (!expected.momentum.empty()) CHECK(is_same(rates.momentum(), expected.momentum[i]));
    if constexpr (requires { schedule.step(0.0); })
      schedule.step(metric(static_cast<int>(i)));
    else
      schedule.step();
  }
}

template <class Schedule, class Options>
void check_schedule(const Options& options, const reference::Schedule& expected) {
  Numbers rates;
  Schedule schedule(rates, options);
  check_curve(rates, schedule, expected);
}

template <class Schedule, class Options>
std::string error_of_schedule(const Options& options) {
  return error_of([&] {
    Numbers rates;
    Schedule schedule(rates, options);
  });
}

}  // namespace

TEST_CASE("schedules are PyTorch's") {
  check_schedule<StepLR>(StepLROptions{.step_size = 7, .gamma = 0.3}, reference::step);
  check_schedule<MultiStepLR>(MultiStepLROptions{.milestones = {3, 10, 10, 31}, .gamma = 0.7},
                              reference::multi_step);
  check_schedule<MultiStepLR>(MultiStepLROptions{.milestones = {0, 2}, .gamma = 0.5}, reference::multi_step_from_0);
  check_schedule<ExponentialLR>(ExponentialLROptions{.gamma = 0.93}, reference::exponential);
  check_schedule<CosineAnnealingLR>(CosineAnnealingLROptions{.T_max = 12}, reference::cosine);
  check_schedule<CosineAnnealingLR>(CosineAnnealingLROptions{.T_max = 17, .eta_min = 0.003},
                                    reference::cosine_to_min);
  check_schedule<LinearLR>(LinearLROptions{}, reference::linear);
  check_schedule<LinearLR>(LinearLROptions{0.9, 0.05, 23}, reference::linear_down);
}

TEST_CASE("schedules one after another are PyTorch's") {
  Numbers rates;
  LinearLR warm_up(rates, {.start_factor = 0.25, .total_iters = 4});
  CosineAnnealingLR decay(rates, {.T_max = 10, .eta_min = 0.001});
  ExponentialLR rest(rates, {.gamma = 0.8});
  SequentialLR schedule(rates, {&warm_up, &decay, &rest}, {5, 18});
  check_curve(rates, schedule, reference::sequential);
  CHECK(schedule.last_epoch() == 49);
}

TEST_CASE("one cycle of learning rate and momentum is PyTorch's") {
  check_schedule<OneCycleLR>(OneCycleLROptions{.max_lr = 0.7, .total_steps = 49}, reference::one_cycle);
  check_schedule<OneCycleLR>(OneCycleLROptions{.max_lr = 0.7,
                                               .epochs = 7,
                                               .steps_per_epoch = 7,
                                               .pct_start = 0.4,
                                               .anneal_strategy = Anneal::linear,
                                               .base_momentum = 0.6,
                                               .max_momentum = 0.8,
                                               .div_factor = 10,
                                               .final_div_factor = 100},
                             reference::one_cycle_linear);
  check_schedule<OneCycleLR>(OneCycleLROptions{.max_lr = 0.7, .total_steps = 49, .three_phase = true},
                             reference::one_cycle_three_phases);
}

TEST_CASE("learning rates that wait for a metric are PyTorch's") {
  using Options = ReduceLROnPlateauOptions;
  check_schedule<ReduceLROnPlateau>(Options{.patience = 2}, reference::plateau);
  check_schedule<ReduceLROnPlateau>(Options{.mode = Mode::max,
                                            .factor = 0.6,
                                            .patience = 1,
                                            .threshold = 0.05,
                                            .threshold_mode = ThresholdMode::abs,
                                            .cooldown = 3,
                                            .min_lr = 0.004},
                                    reference::plateau_max);
  check_schedule<ReduceLROnPlateau>(Options{.mode = Mode::max, .factor = 0.6, .patience = 4, .threshold = 0.01},
                                    reference::plateau_rel_max);
  check_schedule<ReduceLROnPlateau>(
      Options{.factor = 0.5, .patience = 0, .threshold = 0.02, .threshold_mode = ThresholdMode::abs, .eps = 0.001},
      reference::plateau_abs_min);
}

TEST_CASE("a schedule changes the learning rate and the momentum of an optimizer") {
  ClassifierLesson<Host, float> lesson;
  optim::Adam optimizer(lesson.net, {.lr = 1});
  OneCycleLR schedule(optimizer, {.max_lr = 0.5, .total_steps = 10});
  CHECK(is_same(optimizer.lr(), 0.02));
  CHECK(optimizer.momentum() == 0.95);
  check_change_of_rate(lesson, optimizer);
  for (int step = 0; step < 10; ++step)
    schedule.step();
  CHECK(contains(error_of([&] { schedule.step(); }), "tried to step 11 times"));
}

TEST_CASE("schedules that make no sense") {
  CHECK(error_of_schedule<StepLR>(StepLROptions{.step_size = 0}) ==
        "gpunet::optim::lr_scheduler::StepLR: invalid step_size 0 (want 1 or more)");
  CHECK(contains(error_of_schedule<CosineAnnealingLR>(CosineAnnealingLROptions{.T_max = 0}), "invalid T_max 0"));
  CHECK(contains(error_of_schedule<LinearLR>(LinearLROptions{.start_factor = 0}), "invalid start_factor 0"));
  CHECK(contains(error_of_schedule<LinearLR>(LinearLROptions{.end_factor = 2}), "invalid end_factor 2"));
  CHECK(contains(error_of_schedule<OneCycleLR>(OneCycleLROptions{.max_lr = 1}), "0 steps"));
  CHECK(contains(error_of_schedule<OneCycleLR>(OneCycleLROptions{.max_lr = 1, .total_steps = 9, .pct_start = 2}),
                 "invalid pct_start 2"));
  CHECK(contains(error_of_schedule<OneCycleLR>(OneCycleLROptions{.max_lr = 1, .total_steps = 9, .max_momentum = 1}),
                 "invalid momentum 1"));
  CHECK(contains(error_of_schedule<OneCycleLR>(OneCycleLROptions{.max_lr = 1, .total_steps = 2, .pct_start = 0.5}),
                 "a phase without steps"));
  CHECK(contains(error_of_schedule<ReduceLROnPlateau>(ReduceLROnPlateauOptions{.factor = 1}), "invalid factor 1"));
  Numbers rates;
  CHECK(contains(error_of([&] { SequentialLR schedule(rates, {}, {}); }), "0 schedulers and 0 milestones"));
}
