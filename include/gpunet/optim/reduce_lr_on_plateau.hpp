// A learning rate schedule driven by a metric.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>
#include <gpunet/optim/rates.hpp>

namespace gpunet::optim::lr_scheduler {

// Whether a lower or a higher metric is better.
enum class Mode { min, max };
// Whether the threshold is relative to the best metric so far, or absolute.
enum class ThresholdMode { rel, abs };

// Options of torch.optim.lr_scheduler.ReduceLROnPlateau.
struct ReduceLROnPlateauOptions {
  Mode mode = Mode::min;                              // min: for a loss
  double factor = 0.1;                                // multiplies the learning rate; below 1
  index_t patience = 10;                              // steps without improvement before it is lowered
  double threshold = 1e-4;                            // the smallest improvement that counts
  ThresholdMode threshold_mode = ThresholdMode::rel;  // whether the threshold is relative
  index_t cooldown = 0;                               // steps after a change that are not counted
  double min_lr = 0;                                  // the lowest learning rate
  double eps = 1e-8;                                  // smaller changes are skipped
};

// Multiplies the learning rate by factor when a metric (such as a validation loss) has not improved by the threshold
// for more than `patience` steps: ReduceLROnPlateau scheduler(optimizer, {.patience = 5}); ... scheduler.step(loss);
class ReduceLROnPlateau {
 public:
  // The optimizer must outlive it.
  explicit ReduceLROnPlateau(Rates& optimizer, const ReduceLROnPlateauOptions& options = {})
      : rates_(optimizer), options_(options), last_lr_(optimizer.lr()) {
    constexpr const char* name = "lr_scheduler::ReduceLROnPlateau";
    require_option(options.factor >= 0 && options.factor < 1, name, "factor", options.factor,
                   "0 or more and less than 1");
    require_option(options.patience >= 0, name, "patience", options.patience, "0 or more");
    require_option(std::isfinite(options.threshold), name, "threshold", options.threshold, "a finite number");
    require_option(options.cooldown >= 0, name, "cooldown", options.cooldown, "0 or more");
    require_option(name, "min_lr", options.min_lr);
    require_option(name, "eps", options.eps);
  }
  ReduceLROnPlateau(const ReduceLROnPlateau&) = delete;
  ReduceLROnPlateau& operator=(const ReduceLROnPlateau&) = delete;

  // Takes the metric of an epoch, and may change the learning rate.
  void step(double metric) {
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
      const double lr = std::max(rates_->lr() * options_.factor, options_.min_lr);
      if (rates_->lr() - lr > options_.eps) rates_->set_lr(lr);
      cooldown_ = options_.cooldown;
      bad_epochs_ = 0;
    }
    last_lr_ = rates_->lr();
  }

  // Returns the learning rate after the last step.
  double get_last_lr() const { return last_lr_; }

 private:
  bool is_better(double metric) const {
    const bool relative = options_.threshold_mode == ThresholdMode::rel;
    const double threshold = options_.threshold;
    if (options_.mode == Mode::min) return metric < (relative ? best_ * (1.0 - threshold) : best_ - threshold);
    return metric > (relative ? best_ * (threshold + 1.0) : best_ + threshold);
  }

  TrackedPointer<Rates> rates_;
  ReduceLROnPlateauOptions options_;
  double last_lr_;
  double best_ = options_.mode == Mode::min ? std::numeric_limits<double>::infinity()
                                            : -std::numeric_limits<double>::infinity();
  index_t bad_epochs_ = 0, cooldown_ = 0;
};

}  // namespace gpunet::optim::lr_scheduler
