// Bodies of lr_scheduler.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/optim/lr_scheduler.hpp>

namespace gpunet::optim::lr_scheduler {

GPUNET_INLINE double LRScheduler::first() {
  return rates_->lr();
}

GPUNET_INLINE void LRScheduler::step() {
  ++epoch_;
  set(&LRScheduler::next);
}

GPUNET_INLINE void LRScheduler::begin() {
  epoch_ = 0;
  set(&LRScheduler::first);
}

GPUNET_INLINE void LRScheduler::restart() {
  set(&LRScheduler::base_lr);
  begin();
}

GPUNET_INLINE void LRScheduler::set(double (LRScheduler::*rate)()) {
  for (index_t i = 0; i < optimizer_->groups(); ++i) {
    rates_ = TrackedPointer<Rates>(optimizer_->group(i));
    base_lr_ = rates_->initial_lr();
    is_first_group_ = i == 0;
    rates_->set_lr((this->*rate)());
    if (is_first_group_) last_lr_ = rates_->lr();
  }
}

GPUNET_INLINE StepLR::StepLR(Rates& optimizer, const StepLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  constexpr const char* name = "lr_scheduler::StepLR";
  require_option(options.step_size >= 1, name, "step_size", options.step_size, "1 or more");
  require_option(name, "gamma", options.gamma);
  begin();
}

GPUNET_INLINE double StepLR::next() {
  return last_epoch() % options_.step_size == 0 ? rates_->lr() * options_.gamma : rates_->lr();
}

GPUNET_INLINE MultiStepLR::MultiStepLR(Rates& optimizer, MultiStepLROptions options)
    : LRScheduler(optimizer), options_(std::move(options)) {
  constexpr const char* name = "lr_scheduler::MultiStepLR";
  for (index_t milestone : options_.milestones)
    require_option(milestone >= 0, name, "milestone", milestone, "0 or more");
  require_option(name, "gamma", options_.gamma);
  begin();
}

GPUNET_INLINE double MultiStepLR::first() {
  return next();
}

GPUNET_INLINE double MultiStepLR::next() {
  const auto times =
      std::count(options_.milestones.begin(), options_.milestones.end(), last_epoch());
  return rates_->lr() * std::pow(options_.gamma, static_cast<double>(times));
}

GPUNET_INLINE ExponentialLR::ExponentialLR(Rates& optimizer, const ExponentialLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  require_option("lr_scheduler::ExponentialLR", "gamma", options.gamma);
  begin();
}

GPUNET_INLINE double ExponentialLR::next() {
  return rates_->lr() * options_.gamma;
}

GPUNET_INLINE CosineAnnealingLR::CosineAnnealingLR(Rates& optimizer,
                                                   const CosineAnnealingLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  constexpr const char* name = "lr_scheduler::CosineAnnealingLR";
  require_option(options.T_max >= 1 && options.T_max <= most_steps, name, "T_max", options.T_max,
                 "1 to 2^53");
  require_option(name, "eta_min", options.eta_min);
  begin();
}

GPUNET_INLINE double CosineAnnealingLR::next() {
  const auto [period, low] = options_;
  // At the minimum the ratio below would be 0 / 0.
  if ((last_epoch() - 1 - period) % (2 * period) == 0)
    return rates_->lr() +
           (base_lr_ - low) * (1 - std::cos(std::numbers::pi / static_cast<double>(period))) / 2;
  return height(last_epoch()) / height(last_epoch() - 1) * (rates_->lr() - low) + low;
}

GPUNET_INLINE double CosineAnnealingLR::height(index_t epoch) const {
  return 1 + std::cos(std::numbers::pi * static_cast<double>(epoch) /
                      static_cast<double>(options_.T_max));
}

GPUNET_INLINE LinearLR::LinearLR(Rates& optimizer, const LinearLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  constexpr const char* name = "lr_scheduler::LinearLR";
  require_option(options.start_factor > 0 && options.start_factor <= 1, name, "start_factor",
                 options.start_factor, "more than 0 and at most 1");
  require_option(options.end_factor >= 0 && options.end_factor <= 1, name, "end_factor",
                 options.end_factor, "0 to 1");
  require_option(options.total_iters >= 0, name, "total_iters", options.total_iters, "0 or more");
  begin();
}

GPUNET_INLINE double LinearLR::first() {
  return rates_->lr() * options_.start_factor;
}

GPUNET_INLINE double LinearLR::next() {
  if (last_epoch() > options_.total_iters) return rates_->lr();
  const double way = options_.end_factor - options_.start_factor;
  const double lr =
      rates_->lr() *
      (1.0 + way / (static_cast<double>(options_.total_iters) * options_.start_factor +
                    static_cast<double>(last_epoch() - 1) * way));
  return std::max(lr, 0.0);  // rounding may end below an end_factor of 0
}

GPUNET_INLINE ConstantLR::ConstantLR(Rates& optimizer, const ConstantLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  constexpr const char* name = "lr_scheduler::ConstantLR";
  require_option(options.factor > 0 && options.factor <= 1, name, "factor", options.factor,
                 "more than 0 and at most 1");
  require_option(options.total_iters >= 0, name, "total_iters", options.total_iters, "0 or more");
  begin();
}

GPUNET_INLINE double ConstantLR::first() {
  return rates_->lr() * options_.factor;
}

GPUNET_INLINE double ConstantLR::next() {
  return last_epoch() == options_.total_iters ? rates_->lr() * (1.0 / options_.factor)
                                              : rates_->lr();
}

GPUNET_INLINE PolynomialLR::PolynomialLR(Rates& optimizer, const PolynomialLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  constexpr const char* name = "lr_scheduler::PolynomialLR";
  require_option(options.total_iters >= 0 && options.total_iters <= most_steps, name, "total_iters",
                 options.total_iters, "0 to 2^53");
  require_option(name, "power", options.power);
  begin();
}

GPUNET_INLINE double PolynomialLR::next() {
  if (last_epoch() > options_.total_iters) return rates_->lr();
  const double epoch = static_cast<double>(last_epoch()),
               total = static_cast<double>(options_.total_iters);
  return rates_->lr() *
         std::pow((1.0 - epoch / total) / (1.0 - (epoch - 1) / total), options_.power);
}

GPUNET_INLINE CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(
    Rates& optimizer, const CosineAnnealingWarmRestartsOptions& options)
    : LRScheduler(optimizer), options_(options) {
  constexpr const char* name = "lr_scheduler::CosineAnnealingWarmRestarts";
  require_option(options.T_0 >= 1 && options.T_0 <= most_steps, name, "T_0", options.T_0,
                 "1 to 2^53");
  require_option(options.T_mult >= 1 && options.T_mult <= most_steps, name, "T_mult",
                 options.T_mult, "1 to 2^53");
  require_option(name, "eta_min", options.eta_min);
  begin();
}

GPUNET_INLINE double CosineAnnealingWarmRestarts::first() {
  step_ = 0;
  cycle_ = options_.T_0;
  return lr_of_step();
}

GPUNET_INLINE double CosineAnnealingWarmRestarts::next() {
  if (is_first_group_ && ++step_ == cycle_) {
    step_ = 0;
    cycle_ = cycle_ > most_steps / options_.T_mult ? most_steps : cycle_ * options_.T_mult;
  }
  return lr_of_step();
}

GPUNET_INLINE double CosineAnnealingWarmRestarts::lr_of_step() const {
  const double angle = std::numbers::pi * static_cast<double>(step_) / static_cast<double>(cycle_);
  return options_.eta_min + (base_lr_ - options_.eta_min) * (1 + std::cos(angle)) / 2;
}

GPUNET_INLINE LambdaLR::LambdaLR(Rates& optimizer, FactorOfStep lr_lambda)
    : LRScheduler(optimizer), lr_lambda_(std::move(lr_lambda)) {
  require(lr_lambda_ != nullptr,
          "gpunet::optim::lr_scheduler::LambdaLR: no function (it gives the factor of each step), "
          "write [](index_t epoch) { return std::pow(0.95, epoch); }");
  begin();
}

GPUNET_INLINE double LambdaLR::first() {
  return next();
}

GPUNET_INLINE double LambdaLR::next() {
  return base_lr_ * lr_lambda_(last_epoch());
}

GPUNET_INLINE SequentialLR::SequentialLR(Rates& optimizer, std::vector<LRScheduler*> schedulers,
                                         std::vector<index_t> milestones)
    : LRScheduler(optimizer),
      schedulers_(std::move(schedulers)),
      milestones_(std::move(milestones)) {
  require(schedulers_.size() == milestones_.size() + 1,
          "gpunet::optim::lr_scheduler::SequentialLR: ", schedulers_.size(), " schedulers and ",
          milestones_.size(), " milestones (want one scheduler more)");
  for (std::size_t i = 0; i < schedulers_.size(); ++i)
    require(schedulers_[i] && &*schedulers_[i]->optimizer_ == &optimizer,
            "gpunet::optim::lr_scheduler::SequentialLR: scheduler ", i,
            schedulers_[i] ? " is one of another optimizer, give all the same"
                           : " is null, give its address");
  for (std::size_t i = 0; i < milestones_.size(); ++i) {
    const index_t before = i > 0 ? milestones_[i - 1] : 0;
    require(milestones_[i] >= before, "gpunet::optim::lr_scheduler::SequentialLR: milestone ", i,
            " is ", milestones_[i], " (want ", before, " or more, the milestones in order)");
  }
  restart();
}

GPUNET_INLINE double SequentialLR::first() {
  if (is_first_group_) current().begin();  // which sets the rates of the others, too
  return rates_->lr();
}

GPUNET_INLINE double SequentialLR::next() {
  if (is_first_group_) {
    if (std::binary_search(milestones_.begin(), milestones_.end(), last_epoch()))
      current().restart();
    else
      current().step();
  }
  return rates_->lr();
}

GPUNET_INLINE LRScheduler& SequentialLR::current() {
  const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch());
  return *schedulers_[static_cast<std::size_t>(passed - milestones_.begin())];
}

GPUNET_INLINE ChainedScheduler::ChainedScheduler(std::vector<LRScheduler*> schedulers)
    : LRScheduler(rates_of(schedulers)), schedulers_(std::move(schedulers)) {
  last_lr_ = rates_->lr();  // the schedules have begun when they were constructed
}

GPUNET_INLINE Rates& ChainedScheduler::rates_of(const std::vector<LRScheduler*>& schedulers) {
  require(!schedulers.empty(),
          "gpunet::optim::lr_scheduler::ChainedScheduler: no schedulers, give the addresses of one "
          "or more");
  for (std::size_t i = 0; i < schedulers.size(); ++i)
    require(schedulers[i] && &*schedulers[i]->optimizer_ == &*schedulers[0]->optimizer_,
            "gpunet::optim::lr_scheduler::ChainedScheduler: scheduler ", i,
            schedulers[i] ? " is one of another optimizer, give all the same"
                          : " is null, give its address");
  return *schedulers[0]->optimizer_;
}

GPUNET_INLINE double ChainedScheduler::first() {  // in a SequentialLR
  if (is_first_group_)
    for (LRScheduler* scheduler : schedulers_)
      scheduler->begin();  // which sets the rates of the others, too
  return rates_->lr();
}

GPUNET_INLINE double ChainedScheduler::next() {
  if (is_first_group_)
    for (LRScheduler* scheduler : schedulers_)
      scheduler->step();
  return rates_->lr();
}

GPUNET_INLINE void LRScheduler::visit_state(StateVisitor& state) {
  state.count("last_epoch", epoch_);
  state.value("last_lr", last_lr_);
}
GPUNET_INLINE void CosineAnnealingWarmRestarts::visit_state(StateVisitor& state) {
  LRScheduler::visit_state(state);
  state.count("T_cur", step_);
  state.value("T_i", cycle_);
}
GPUNET_INLINE void SequentialLR::visit_state(StateVisitor& state) {
  LRScheduler::visit_state(state);
  for (std::size_t i = 0; i < schedulers_.size(); ++i)
    state.part(std::to_string(i), *schedulers_[i]);
}
GPUNET_INLINE void ChainedScheduler::visit_state(StateVisitor& state) {
  LRScheduler::visit_state(state);
  for (std::size_t i = 0; i < schedulers_.size(); ++i)
    state.part(std::to_string(i), *schedulers_[i]);
}

}  // namespace gpunet::optim::lr_scheduler
