#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/optim/lr_scheduler.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"
#include "support/schedule_reference.hpp"

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
void check_curve(const optim::Rates& rates, Schedule& schedule, const std::string& name) {
  const ScheduleReference expected = schedule_reference(name);
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
void check_schedule(const Options& options, const std::string& name) {
  Numbers rates;
  Schedule schedule(rates, options);
  check_curve(rates, schedule, name);
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
  check_schedule<StepLR>(StepLROptions{.step_size = 7, .gamma = 0.3}, "step");
  check_schedule<MultiStepLR>(MultiStepLROptions{.milestones = {3, 10, 10, 31}, .gamma = 0.7},
                              "multi_step");
  check_schedule<MultiStepLR>(MultiStepLROptions{.milestones = {0, 2}, .gamma = 0.5},
                              "multi_step_from_0");
  check_schedule<ExponentialLR>(ExponentialLROptions{.gamma = 0.93}, "exponential");
  check_schedule<CosineAnnealingLR>(CosineAnnealingLROptions{.T_max = 12}, "cosine");
  check_schedule<CosineAnnealingLR>(CosineAnnealingLROptions{.T_max = 17, .eta_min = 0.003},
                                    "cosine_to_min");
  check_schedule<LinearLR>(LinearLROptions{}, "linear");
  check_schedule<LinearLR>(LinearLROptions{0.9, 0.05, 23}, "linear_down");
  check_schedule<ConstantLR>(ConstantLROptions{}, "constant");
  check_schedule<ConstantLR>(ConstantLROptions{.factor = 0.7, .total_iters = 31}, "constant_long");
  check_schedule<ConstantLR>(ConstantLROptions{.factor = 0.5, .total_iters = 0},
                             "constant_of_no_steps");
  check_schedule<PolynomialLR>(PolynomialLROptions{}, "polynomial");
  check_schedule<PolynomialLR>(PolynomialLROptions{.total_iters = 40, .power = 0.9},
                               "polynomial_slow");
  check_schedule<PolynomialLR>(PolynomialLROptions{.total_iters = 0, .power = 2},
                               "polynomial_of_no_steps");
  using Restarts = CosineAnnealingWarmRestartsOptions;
  check_schedule<CosineAnnealingWarmRestarts>(Restarts{.T_0 = 7}, "warm_restarts");
  check_schedule<CosineAnnealingWarmRestarts>(Restarts{.T_0 = 3, .T_mult = 2, .eta_min = 0.003},
                                              "warm_restarts_longer");
  check_schedule<LambdaLR>([](index_t epoch) { return 1 / (1 + static_cast<double>(epoch)); },
                           "by_lambda");
}

TEST_CASE("schedules one after another are PyTorch's") {
  Numbers rates;
  LinearLR warm_up(rates, {.start_factor = 0.25, .total_iters = 4});
  CosineAnnealingLR decay(rates, {.T_max = 10, .eta_min = 0.001});
  ExponentialLR rest(rates, {.gamma = 0.8});
  SequentialLR schedule(rates, {&warm_up, &decay, &rest}, {5, 18});
  check_curve(rates, schedule, "sequential");
  CHECK(schedule.last_epoch() == 49);
}

TEST_CASE("a warm-up and restarts after it are PyTorch's") {
  Numbers rates;
  LinearLR warm_up(rates, {.start_factor = 0.01, .total_iters = 5});
  CosineAnnealingWarmRestarts restarts(rates, {.T_0 = 6, .T_mult = 2});
  PolynomialLR rest(rates, {.total_iters = 9, .power = 2});
  SequentialLR schedule(rates, {&warm_up, &restarts, &rest}, {5, 30});
  check_curve(rates, schedule, "warm_up_then_restarts");
}

TEST_CASE("schedules side by side are PyTorch's") {
  Numbers rates;
  ConstantLR slow(rates, {.factor = 0.1, .total_iters = 20});
  ExponentialLR decay(rates, {.gamma = 0.9});
  ChainedScheduler schedule({&slow, &decay});
  check_curve(rates, schedule, "chained");
}

TEST_CASE("schedules side by side may follow others, from the initial learning rate") {
  Numbers rates;
  StepLR first(rates, {.step_size = 1, .gamma = 0.5});
  ConstantLR slow(rates, {.factor = 0.5, .total_iters = 2});
  ExponentialLR decay(rates, {.gamma = 0.25});
  ChainedScheduler second({&slow, &decay});
  SequentialLR schedule(rates, {&first, &second}, {2});
  for (double lr : {0.1, 0.05, 0.1 / 2, 0.1 / 8, 0.1 / 16, 0.1 / 64}) {
    CHECK(is_same(rates.lr(), lr));
    schedule.step();
  }
}

TEST_CASE("one cycle of learning rate and momentum is PyTorch's") {
  check_schedule<OneCycleLR>(OneCycleLROptions{.max_lr = 0.7, .total_steps = 49}, "one_cycle");
  check_schedule<OneCycleLR>(OneCycleLROptions{.max_lr = 0.7,
                                               .epochs = 7,
                                               .steps_per_epoch = 7,
                                               .pct_start = 0.4,
                                               .anneal_strategy = Anneal::linear,
                                               .base_momentum = 0.6,
                                               .max_momentum = 0.8,
                                               .div_factor = 10,
                                               .final_div_factor = 100},
                             "one_cycle_linear");
  check_schedule<OneCycleLR>(
      OneCycleLROptions{.max_lr = 0.7, .total_steps = 49, .three_phase = true},
      "one_cycle_three_phases");
}

TEST_CASE("learning rates that wait for a metric are PyTorch's") {
  using Options = ReduceLROnPlateauOptions;
  check_schedule<ReduceLROnPlateau>(Options{.patience = 2}, "plateau");
  check_schedule<ReduceLROnPlateau>(Options{.mode = Mode::max,
                                            .factor = 0.6,
                                            .patience = 1,
                                            .threshold = 0.05,
                                            .threshold_mode = ThresholdMode::abs,
                                            .cooldown = 3,
                                            .min_lr = 0.004},
                                    "plateau_max");
  check_schedule<ReduceLROnPlateau>(
      Options{.mode = Mode::max, .factor = 0.6, .patience = 4, .threshold = 0.01},
      "plateau_rel_max");
  check_schedule<ReduceLROnPlateau>(Options{.factor = 0.5,
                                            .patience = 0,
                                            .threshold = 0.02,
                                            .threshold_mode = ThresholdMode::abs,
                                            .eps = 0.001},
                                    "plateau_abs_min");
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
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const auto refuses = [](const std::string& error, const char* what, const char* want) {
    CAPTURE(error);
    CHECK(contains(error, what));
    CHECK(contains(error, want));
  };
  for (double gamma : {-0.1, nan, infinity}) {
    refuses(error_of_schedule<StepLR>(StepLROptions{.gamma = gamma}), "StepLR: invalid gamma",
            "(want 0 or more");
    refuses(error_of_schedule<MultiStepLR>(MultiStepLROptions{.milestones = {1}, .gamma = gamma}),
            "MultiStepLR: invalid gamma", "(want");
    refuses(error_of_schedule<ExponentialLR>(ExponentialLROptions{.gamma = gamma}),
            "ExponentialLR: invalid gamma", "(want");
    refuses(error_of_schedule<CosineAnnealingLR>(CosineAnnealingLROptions{.eta_min = gamma}),
            "invalid eta_min", "(want");
    refuses(error_of_schedule<LinearLR>(LinearLROptions{.start_factor = gamma}),
            "invalid start_factor", "(want");
    refuses(error_of_schedule<LinearLR>(LinearLROptions{.end_factor = gamma}), "invalid end_factor",
            "(want 0 to 1)");
    refuses(error_of_schedule<ConstantLR>(ConstantLROptions{.factor = gamma}),
            "ConstantLR: invalid factor", "(want more than 0 and at most 1)");
    refuses(error_of_schedule<PolynomialLR>(PolynomialLROptions{.power = gamma}),
            "PolynomialLR: invalid power", "(want");
    using Restarts = CosineAnnealingWarmRestartsOptions;
    refuses(error_of_schedule<CosineAnnealingWarmRestarts>(Restarts{.eta_min = gamma}),
            "CosineAnnealingWarmRestarts: invalid eta_min", "(want");
    refuses(error_of_schedule<LambdaLR>([gamma](index_t) { return gamma; }),
            "invalid learning rate", "(want 0 or");
    const auto refuses_cycle = [&](const char* what, OneCycleLROptions options) {
      options.total_steps = 9;
      if (options.max_lr == 0) options.max_lr = 1;
      refuses(error_of_schedule<OneCycleLR>(options), what, "(want");
    };
    refuses_cycle("OneCycleLR: invalid max_lr", {.max_lr = gamma});
    refuses_cycle("OneCycleLR: invalid pct_start", {.pct_start = gamma});
    refuses_cycle("OneCycleLR: invalid momentum", {.base_momentum = gamma});
    refuses_cycle("OneCycleLR: invalid momentum", {.max_momentum = gamma});
    refuses_cycle("OneCycleLR: invalid div_factor", {.div_factor = gamma});
    refuses_cycle("OneCycleLR: invalid final_div_factor", {.final_div_factor = gamma});
    const auto refuses_plateau = [&](const char* what, const ReduceLROnPlateauOptions& options) {
      refuses(error_of_schedule<ReduceLROnPlateau>(options), what, "(want");
    };
    refuses_plateau("ReduceLROnPlateau: invalid factor", {.factor = gamma});
    refuses_plateau("ReduceLROnPlateau: invalid min_lr", {.min_lr = gamma});
    refuses_plateau("ReduceLROnPlateau: invalid eps", {.eps = gamma});
    if (gamma < 0) continue;
    refuses_plateau("ReduceLROnPlateau: invalid threshold", {.threshold = gamma});
  }
  CHECK(error_of_schedule<StepLR>(StepLROptions{.step_size = 0}) ==
        "gpunet::optim::lr_scheduler::StepLR: invalid step_size 0 (want 1 or more)");
  refuses(error_of_schedule<MultiStepLR>(MultiStepLROptions{.milestones = {3, -1}}),
          "invalid milestone -1", "(want");
  refuses(error_of_schedule<CosineAnnealingLR>(CosineAnnealingLROptions{.T_max = 0}),
          "invalid T_max 0", "(want 1");
  const index_t huge = std::numeric_limits<index_t>::max();
  refuses(error_of_schedule<CosineAnnealingLR>(CosineAnnealingLROptions{.T_max = huge}),
          "invalid T_max 9", "to 2^53)");
  refuses(error_of_schedule<LinearLR>(LinearLROptions{.start_factor = 0}), "invalid start_factor 0",
          "(want more");
  refuses(error_of_schedule<LinearLR>(LinearLROptions{.end_factor = 2}), "invalid end_factor 2",
          "(want 0 to 1)");
  refuses(error_of_schedule<LinearLR>(LinearLROptions{.total_iters = -1}), "invalid total_iters -1",
          "(want 0 or more)");
  refuses(error_of_schedule<ConstantLR>(ConstantLROptions{.factor = 0}), "invalid factor 0",
          "(want more");
  refuses(error_of_schedule<ConstantLR>(ConstantLROptions{.total_iters = -1}),
          "invalid total_iters -1", "(want 0 or more)");
  refuses(error_of_schedule<PolynomialLR>(PolynomialLROptions{.total_iters = -1}),
          "invalid total_iters -1", "(want 0 to 2^53)");
  for (index_t bad : {index_t{0}, index_t{-1}, huge}) {
    using Restarts = CosineAnnealingWarmRestartsOptions;
    refuses(error_of_schedule<CosineAnnealingWarmRestarts>(Restarts{.T_0 = bad}), "invalid T_0 ",
            "(want 1 to 2^53)");
    refuses(error_of_schedule<CosineAnnealingWarmRestarts>(Restarts{.T_mult = bad}),
            "invalid T_mult ", "(want 1 to 2^53)");
  }
  refuses(error_of_schedule<LambdaLR>(FactorOfStep()), "LambdaLR: no function",
          "write [](index_t epoch)");
  refuses(error_of_schedule<ReduceLROnPlateau>(ReduceLROnPlateauOptions{.factor = 1}),
          "invalid factor 1", "less than 1");
  refuses(error_of_schedule<ReduceLROnPlateau>(ReduceLROnPlateauOptions{.patience = -1}),
          "invalid patience -1", "(want");
  refuses(error_of_schedule<ReduceLROnPlateau>(ReduceLROnPlateauOptions{.cooldown = -1}),
          "invalid cooldown -1", "(want");
}

TEST_CASE("cycles that make no sense leave the optimizer as it was") {
  const auto error = [](const OneCycleLROptions& options) {
    Numbers rates;
    const std::string text = error_of([&] { OneCycleLR schedule(rates, options); });
    CHECK(rates.lr() == 0.1);
    return text;
  };
  CHECK(contains(error({.total_steps = 9}), "invalid max_lr 0 (want more than 0, and finite)"));
  CHECK(contains(error({.max_lr = 1}), "0 epochs of 0 steps (want total_steps, or"));
  CHECK(contains(error({.max_lr = 1, .epochs = 3}), "3 epochs of 0 steps"));
  CHECK(contains(
      error({.max_lr = 1, .epochs = index_t{1} << 40, .steps_per_epoch = index_t{1} << 40}),
      "2^53 steps"));
  CHECK(contains(error({.max_lr = 1, .total_steps = -5, .epochs = 2, .steps_per_epoch = 2}),
                 "invalid total_steps -5"));
  CHECK(contains(error({.max_lr = 1, .total_steps = 9, .pct_start = 2}),
                 "invalid pct_start 2 (want 0 to 1)"));
  CHECK(contains(error({.max_lr = 1, .total_steps = 9, .max_momentum = 1}),
                 "invalid momentum 1 (want 0 or more and"));
  CHECK(contains(error({.max_lr = 1, .total_steps = 9, .div_factor = 0}), "invalid div_factor 0"));
  CHECK(contains(error_of_schedule<OneCycleLR>(
                     OneCycleLROptions{.max_lr = 1, .total_steps = 2, .pct_start = 0.5}),
                 "a phase without steps"));
}

TEST_CASE("schedules one after another that make no sense") {
  Numbers rates, others;
  StepLR step(rates, {});
  ExponentialLR other(others, {});
  const auto error = [&](const std::vector<LRScheduler*>& schedulers,
                         const std::vector<index_t>& milestones) {
    return error_of([&] { SequentialLR schedule(rates, schedulers, milestones); });
  };
  CHECK(contains(error({}, {}), "0 schedulers and 0 milestones"));
  CHECK(contains(error({&step, nullptr}, {3}),
                 "SequentialLR: scheduler 1 is null, give its address"));
  CHECK(contains(error({&other, &step}, {3}),
                 "SequentialLR: scheduler 0 is one of another optimizer, give all the same"));
  CHECK(contains(error({&step, &step, &step}, {3, 2}),
                 "milestone 1 is 2 (want 3 or more, the milestones in order)"));
  CHECK(contains(error({&step, &step}, {-1}), "milestone 0 is -1 (want 0 or more"));
}

TEST_CASE("schedules side by side that make no sense") {
  Numbers rates, others;
  StepLR step(rates, {});
  ExponentialLR other(others, {});
  const auto error = [&](const std::vector<LRScheduler*>& schedulers) {
    return error_of([&] { ChainedScheduler schedule(schedulers); });
  };
  CHECK(error({}) ==
        "gpunet::optim::lr_scheduler::ChainedScheduler: no schedulers, give the addresses of one "
        "or more");
  CHECK(
      contains(error({nullptr, &step}), "ChainedScheduler: scheduler 0 is null, give its address"));
  CHECK(contains(error({&step, &other}),
                 "ChainedScheduler: scheduler 1 is one of another optimizer, give all"));
}

TEST_CASE("what PyTorch takes is taken") {
  // Its values for these, computed by PyTorch 2.15 with lr 0.1.
  Numbers unordered;
  MultiStepLR multi(unordered, {.milestones = {3, 1}, .gamma = 0.5});
  for (double lr : {0.05, 0.05, 0.025}) {
    multi.step();
    CHECK(is_same(unordered.lr(), lr));
  }
  Numbers none;
  LinearLR linear(none, {.start_factor = 0.5, .total_iters = 0});
  for (int step = 0; step < 3; ++step) {
    CHECK(is_same(none.lr(), 0.05));
    linear.step();
  }
  Numbers at_once;
  StepLR first(at_once, {}), second(at_once, {.gamma = 0.5});
  SequentialLR sequence(at_once, {&first, &second}, {0});
  CHECK(is_same(at_once.lr(), 0.1));
  sequence.step();
  CHECK(is_same(at_once.lr(), 0.05));
}
