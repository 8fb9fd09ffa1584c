// Bodies of reduce_lr_on_plateau.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <gpunet/core/error.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/optim/reduce_lr_on_plateau.hpp>

namespace gpunet::optim::lr_scheduler {

GPUNET_INLINE ReduceLROnPlateau::ReduceLROnPlateau(Rates& optimizer,
                                                   const ReduceLROnPlateauOptions& options)
    : rates_(optimizer), options_(options), last_lr_(optimizer.lr()) {
  constexpr const char* name = "lr_scheduler::ReduceLROnPlateau";
  require_option(options.factor >= 0 && options.factor < 1, name, "factor", options.factor,
                 "0 or more and less than 1");
  require_option(options.patience >= 0, name, "patience", options.patience, "0 or more");
  require_option(std::isfinite(options.threshold), name, "threshold", options.threshold,
                 "a finite number");
  require_option(options.cooldown >= 0, name, "cooldown", options.cooldown, "0 or more");
  require_option(name, "min_lr", options.min_lr);
  require_option(name, "eps", options.eps);
}

GPUNET_INLINE void ReduceLROnPlateau::step(double metric) {
  ++bad_epochs_;
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  }
  if (cooldown_ > 0) {
    --cooldown_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ > options_.patience) {
    for (index_t i = 0; i < rates_->groups(); ++i) {
      Rates& group = rates_->group(i);
      const double lr = std::max(group.lr() * options_.factor, options_.min_lr);
      if (group.lr() - lr > options_.eps) group.set_lr(lr);
    }
    cooldown_ = options_.cooldown;
    bad_epochs_ = 0;
  }
  last_lr_ = rates_->lr();
}

GPUNET_INLINE bool ReduceLROnPlateau::is_better(double metric) const {
  const bool relative = options_.threshold_mode == ThresholdMode::rel;
  const double threshold = options_.threshold;
  if (options_.mode == Mode::min)
    return metric < (relative ? best_ * (1.0 - threshold) : best_ - threshold);
  return metric > (relative ? best_ * (threshold + 1.0) : best_ + threshold);
}

GPUNET_INLINE void ReduceLROnPlateau::visit_state(StateVisitor& state) {
  state.value("last_lr", last_lr_);
  state.value("best", best_);
  state.count("num_bad_epochs", bad_epochs_);
  state.value("cooldown_counter", cooldown_);
}

}  // namespace gpunet::optim::lr_scheduler
