// Learning rate schedules, as those of torch.optim.lr_scheduler.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>
#include <gpunet/optim/rates.hpp>

namespace gpunet::optim::lr_scheduler {

// The most steps of a schedule: a double cannot distinguish more.
inline constexpr index_t most_steps = index_t{1} << 53;

// The base of schedules. A schedule sets the learning rate of an optimizer, which must outlive it, when it is
// constructed and in each step(), called once per epoch or once per batch after the optimizer's own step(). Values are
// bitwise identical to PyTorch's. Most are computed from the value before, so that a learning rate set in between has a
// lasting effect.
class LRScheduler {
 public:
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;
  virtual ~LRScheduler() = default;

  // Sets the learning rate of the next epoch or batch.
  void step() {
    ++epoch_;
    set(next());
  }
  // Returns the learning rate that was set last.
  double get_last_lr() const { return last_lr_; }
  // Returns the number of steps so far.
  index_t last_epoch() const { return epoch_; }

 protected:
  explicit LRScheduler(Rates& rates) : rates_(rates), base_lr_(rates.initial_lr()) {}

  // Returns the learning rate of epoch 0, computed from the optimizer's.
  virtual double first() { return rates_->lr(); }
  // Returns the learning rate of a later epoch, last_epoch().
  virtual double next() = 0;

  // Starts at epoch 0. Every constructor ends with this call.
  void begin() {
    epoch_ = 0;
    set(first());
  }
  // Starts at epoch 0 again, from the initial learning rate.
  void restart() {
    rates_->set_lr(base_lr_);
    begin();
  }

  TrackedPointer<Rates> rates_;
  const double base_lr_;

 private:
  friend class SequentialLR;

  void set(double lr) {
    rates_->set_lr(lr);
    last_lr_ = lr;
  }

  index_t epoch_ = 0;
  double last_lr_ = 0;
};

// Options of torch.optim.lr_scheduler.StepLR.
struct StepLROptions {
  index_t step_size = 1;  // steps from one change to the next
  double gamma = 0.1;     // the factor
};

// Multiplies the learning rate by gamma at every step_size-th step: StepLR scheduler(optimizer, {.step_size = 30});
class StepLR : public LRScheduler {
 public:
  StepLR(Rates& optimizer, const StepLROptions& options) : LRScheduler(optimizer), options_(options) {
    constexpr const char* name = "lr_scheduler::StepLR";
    require_option(options.step_size >= 1, name, "step_size", options.step_size, "1 or more");
    require_option(name, "gamma", options.gamma);
    begin();
  }

 private:
  double next() override {
    return last_epoch() % options_.step_size == 0 ? rates_->lr() * options_.gamma : rates_->lr();
  }

  StepLROptions options_;
};

// Options of torch.optim.lr_scheduler.MultiStepLR.
struct MultiStepLROptions {
  std::vector<index_t> milestones;  // the steps at which it changes
  double gamma = 0.1;               // the factor
};

// Multiplies the learning rate by gamma at each milestone, given in any order: MultiStepLR scheduler(optimizer,
// {.milestones = {30, 80}});
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Rates& optimizer, MultiStepLROptions options) : LRScheduler(optimizer), options_(std::move(options)) {
    constexpr const char* name = "lr_scheduler::MultiStepLR";
    for (index_t milestone : options_.milestones)
      require_option(milestone >= 0, name, "milestone", milestone, "0 or more");
    require_option(name, "gamma", options_.gamma);
    begin();
  }

 private:
  double first() override { return next(); }
  double next() override {
    const auto times = std::count(options_.milestones.begin(), options_.milestones.end(), last_epoch());
    return rates_->lr() * std::pow(options_.gamma, static_cast<double>(times));
  }

  MultiStepLROptions options_;
};

// Options of torch.optim.lr_scheduler.ExponentialLR.
struct ExponentialLROptions {
  double gamma = 1;  // the factor
};

// Multiplies the learning rate by gamma at every step: ExponentialLR scheduler(optimizer, {.gamma = 0.9});
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Rates& optimizer, const ExponentialLROptions& options) : LRScheduler(optimizer), options_(options) {
    require_option("lr_scheduler::ExponentialLR", "gamma", options.gamma);
    begin();
  }

 private:
  double next() override { return rates_->lr() * options_.gamma; }

  ExponentialLROptions options_;
};

// Options of torch.optim.lr_scheduler.CosineAnnealingLR.
struct CosineAnnealingLROptions {
  index_t T_max = 1;   // steps from the highest learning rate to the lowest
  double eta_min = 0;  // the lowest learning rate
};

// Follows a cosine from the initial learning rate down to eta_min in T_max steps, then up again (Loshchilov and Hutter
// 2017, without restarts): CosineAnnealingLR scheduler(optimizer, {.T_max = 100});
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Rates& optimizer, const CosineAnnealingLROptions& options)
      : LRScheduler(optimizer), options_(options) {
    constexpr const char* name = "lr_scheduler::CosineAnnealingLR";
    require_option(options.T_max >= 1 && options.T_max <= most_steps, name, "T_max", options.T_max, "1 to 2^53");
    require_option(name, "eta_min", options.eta_min);
    begin();
  }

 private:
  double next() override {
    const auto [period, low] = options_;
    if ((last_epoch() - 1 - period) % (2 * period) == 0)  // at the minimum the ratio below would be 0 / 0
      return rates_->lr() + (base_lr_ - low) * (1 - std::cos(std::numbers::pi / static_cast<double>(period))) / 2;
    return height(last_epoch()) / height(last_epoch() - 1) * (rates_->lr() - low) + low;
  }

  double height(index_t epoch) const {
    return 1 + std::cos(std::numbers::pi * static_cast<double>(epoch) / static_cast<double>(options_.T_max));
  }

  CosineAnnealingLROptions options_;
};

// Options of torch.optim.lr_scheduler.LinearLR.
struct LinearLROptions {
  double start_factor = 1.0 / 3;  // of the first step, more than 0
  double end_factor = 1;          // of the last step
  index_t total_iters = 5;        // steps from one to the other
};

// Multiplies the learning rate by a factor that goes from start_factor to end_factor in total_iters steps, for a
// warm-up: LinearLR scheduler(optimizer, {.start_factor = 0.1, .total_iters = 10}); With total_iters = 0 the factor
// stays start_factor.
class LinearLR : public LRScheduler {
 public:
  LinearLR(Rates& optimizer, const LinearLROptions& options) : LRScheduler(optimizer), options_(options) {
    constexpr const char* name = "lr_scheduler::LinearLR";
    require_option(options.start_factor > 0 && options.start_factor <= 1, name, "start_factor",
                   options.start_factor, "more than 0 and at most 1");
    require_option(options.end_factor >= 0 && options.end_factor <= 1, name, "end_factor", options.end_factor,
                   "0 to 1");
    require_option(options.total_iters >= 0, name, "total_iters", options.total_iters, "0 or more");
    begin();
  }

 private:
  double first() override { return rates_->lr() * options_.start_factor; }
  double next() override {
    if (last_epoch() > options_.total_iters) return rates_->lr();
    const double way = options_.end_factor - options_.start_factor;
    const double lr =
        rates_->lr() * (1.0 + way / (static_cast<double>(options_.total_iters) * options_.start_factor +
                                     static_cast<double>(last_epoch() - 1) * way));
    return std::max(lr, 0.0);  // rounding may end below an end_factor of 0
  }

  LinearLROptions options_;
};

// Runs schedules one after another; at each milestone the next one starts from the initial learning rate:
//   LinearLR warm_up(optimizer, {.total_iters = 10});
//   CosineAnnealingLR decay(optimizer, {.T_max = 90});
//   SequentialLR scheduler(optimizer, {&warm_up, &decay}, {10});
// The schedules must outlive it; only it may step them.
class SequentialLR : public LRScheduler {
 public:
  SequentialLR(Rates& optimizer, std::vector<LRScheduler*> schedulers, std::vector<index_t> milestones)
      : LRScheduler(optimizer), schedulers_(std::move(schedulers)), milestones_(std::move(milestones)) {
    require(schedulers_.size() == milestones_.size() + 1,
            "gpunet::optim::lr_scheduler::SequentialLR: ", schedulers_.size(), " schedulers and ",
            milestones_.size(), " milestones (want one scheduler more)");
    for (std::size_t i = 0; i < schedulers_.size(); ++i)
      require(schedulers_[i] && &*schedulers_[i]->rates_ == &optimizer,
              "gpunet::optim::lr_scheduler::SequentialLR: scheduler ", i,
              schedulers_[i] ? " is one of another optimizer, give all the same" : " is null, give its address");
    for (std::size_t i = 0; i < milestones_.size(); ++i) {
      const index_t before = i > 0 ? milestones_[i - 1] : 0;
      require(milestones_[i] >= before, "gpunet::optim::lr_scheduler::SequentialLR: milestone ", i, " is ",
              milestones_[i], " (want ", before, " or more, the milestones in order)");
    }
    restart();
  }

 private:
  double first() override {
    current().begin();
    return rates_->lr();
  }
  double next() override {
    if (std::binary_search(milestones_.begin(), milestones_.end(), last_epoch()))
      current().restart();
    else
      current().step();
    return rates_->lr();
  }

  LRScheduler& current() {
    const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch());
    return *schedulers_[static_cast<std::size_t>(passed - milestones_.begin())];
  }

  std::vector<LRScheduler*> schedulers_;
  std::vector<index_t> milestones_;
};

}  // namespace gpunet::optim::lr_scheduler
