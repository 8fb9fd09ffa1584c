// Bodies of one_cycle_lr.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/optim/one_cycle_lr.hpp>

namespace gpunet::optim::lr_scheduler {

GPUNET_INLINE OneCycleLR::OneCycleLR(Rates& optimizer, const OneCycleLROptions& options)
    : LRScheduler(with_initial_lr(optimizer, options)),
      options_(options),
      total_steps_(steps_of(options)) {
  const double low = base_lr_, high = options.max_lr, least = low / options.final_div_factor;
  const double fast = options.max_momentum, slow = options.base_momentum;
  const double steps = static_cast<double>(total_steps_), up = options.pct_start * steps - 1;
  if (options.three_phase)
    phases_ = {{up, {low, high}, {fast, slow}},
               {2 * options.pct_start * steps - 2, {high, low}, {slow, fast}},
               {steps - 1, {low, least}, {fast, fast}}};
  else
    phases_ = {{up, {low, high}, {fast, slow}}, {steps - 1, {high, least}, {slow, fast}}};
  begin();
}

GPUNET_INLINE index_t OneCycleLR::steps_of(const OneCycleLROptions& options) {
  if (options.total_steps != 0) {
    require_option(options.total_steps >= 1 && options.total_steps <= most_steps, name,
                   "total_steps", options.total_steps, "1 to 2^53");
    return options.total_steps;
  }
  require(options.epochs >= 1 && options.steps_per_epoch >= 1 &&
              options.epochs <= most_steps / options.steps_per_epoch,
          "gpunet::optim::lr_scheduler::OneCycleLR: ", options.epochs, " epochs of ",
          options.steps_per_epoch,
          " steps (want total_steps, or epochs and steps_per_epoch, of 1 or more, and 2^53 steps "
          "at most)");
  return options.epochs * options.steps_per_epoch;
}

GPUNET_INLINE void OneCycleLR::check(const OneCycleLROptions& options) {
  steps_of(options);
  for (const auto& [what, value] :
       {std::pair("max_lr", options.max_lr), std::pair("div_factor", options.div_factor),
        std::pair("final_div_factor", options.final_div_factor)})
    require_option(value > 0 && std::isfinite(value), name, what, value, "more than 0, and finite");
  require_option(options.pct_start >= 0 && options.pct_start <= 1, name, "pct_start",
                 options.pct_start, "0 to 1");
  for (double momentum : {options.base_momentum, options.max_momentum})
    require_option(momentum >= 0 && momentum < 1, name, "momentum", momentum,
                   "0 or more and less than 1");
}

GPUNET_INLINE Rates& OneCycleLR::with_initial_lr(Rates& rates, const OneCycleLROptions& options) {
  check(options);
  if (options.cycle_momentum) rates.require_momentum();
  rates.set_initial_lr(options.max_lr / options.div_factor);
  return rates;
}

GPUNET_INLINE double OneCycleLR::first() {
  return next();
}

GPUNET_INLINE double OneCycleLR::next() {
  require(last_epoch() <= total_steps_, "gpunet::optim::lr_scheduler::OneCycleLR: tried to step ",
          last_epoch(), " times, the total number of steps is ", total_steps_,
          ", make the schedule for all steps of the training");
  const double step = static_cast<double>(last_epoch());
  double start = 0;
  std::size_t i = 0;
  for (; i + 1 < phases_.size() && step > phases_[i].end; ++i)
    start = phases_[i].end;
  const Phase& phase = phases_[i];
  require(phase.end != start,
          "gpunet::optim::lr_scheduler::OneCycleLR: a phase without steps: choose another "
          "pct_start or more steps");
  const double part = (step - start) / (phase.end - start);
  if (options_.cycle_momentum) rates_->set_momentum(between(phase.momentum, part));
  return std::max(between(phase.lr, part), 0.0);  // the step after the last may be below 0
}

GPUNET_INLINE double OneCycleLR::between(const std::array<double, 2>& values, double part) const {
  const auto [from, to] = values;
  if (options_.anneal_strategy == Anneal::linear) return (to - from) * part + from;
  return to + (from - to) / 2.0 * (std::cos(std::numbers::pi * part) + 1);
}

}  // namespace gpunet::optim::lr_scheduler
