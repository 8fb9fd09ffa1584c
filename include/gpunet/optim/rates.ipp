// Bodies of rates.hpp.
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/core/state.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/optim/rates.hpp>

namespace gpunet::optim {

GPUNET_INLINE void require_option(const char* name, const char* what, double value) {
  require_option(value >= 0 && std::isfinite(value), name, what, value, "0 or more, and finite");
  require_option(value <= double{std::numeric_limits<float>::max()}, name, what, value,
                 "less than 3.4e38, as a float is");
}

GPUNET_INLINE void Rates::check_betas(const std::array<double, 2>& betas) const {
  for (std::size_t i = 0; i < betas.size(); ++i)
    require(betas[i] >= 0 && betas[i] < 1, "gpunet::optim::", name_,
            ": invalid beta parameter at index ", i, ": ", betas[i],
            " (want 0 or more and less than 1)");
}

GPUNET_INLINE Rates::Rates(const char* name, double lr, std::optional<double> momentum,
                           std::optional<double> weight_decay)
    : name_(name),
      momentum_(momentum.value_or(0)),
      weight_decay_(weight_decay.value_or(0)),
      has_momentum_(momentum.has_value()),
      has_weight_decay_(weight_decay.has_value()) {
  set_lr(lr);
  check_option("weight_decay value", weight_decay_);
}

GPUNET_INLINE Rates::Rates(Rates&&) noexcept = default;
GPUNET_INLINE Rates::~Rates() = default;

GPUNET_INLINE void Rates::require_momentum() const {
  require(has_momentum_, "gpunet::optim::", name_,
          ": has no momentum (a schedule of one would change nothing), for OneCycleLR set "
          "cycle_momentum to false");
}

GPUNET_INLINE void Rates::set_weight_decay(double weight_decay) {
  require(has_weight_decay_, "gpunet::optim::", name_,
          ": has no weight decay (it would change nothing), add one to the gradients by "
          "nn::utils::add_weight_penalty_");
  set("weight_decay value", &Rates::weight_decay_, weight_decay);
}

GPUNET_INLINE void Rates::set(const char* what, double Rates::*rate, double value) {
  this->here();
  check_option(what, value);
  this->*rate = value;
  for (const auto& one : groups_)
    (*one).*rate = value;
}

GPUNET_INLINE double Rates::initial_lr() {
  Rates& of = group(0);
  if (!of.initial_lr_) of.initial_lr_ = of.lr_;
  return *of.initial_lr_;
}

GPUNET_INLINE void Rates::set_initial_lr(double lr) {
  set_lr(lr);
  for (index_t i = 0; i < groups(); ++i)
    group(i).initial_lr_ = lr;
}

GPUNET_INLINE Rates& Rates::group(index_t i) {
  this->here();
  require(0 <= i && i < groups(), "gpunet::optim::", name_, "::group: group ", i, " of ", groups(),
          " (want 0 to ", groups() - 1, "), add it by add_param_group");
  return groups_.empty() ? *this : *groups_[static_cast<std::size_t>(i)];
}

GPUNET_INLINE void Rates::add_rates(const ParamGroupOptions& options) {
  struct Group : Rates {
    explicit Group(const Rates& like)
        : Rates(like.name_, like.lr_, like.momentum_, like.weight_decay_) {
      has_momentum_ = like.has_momentum_;
    }
  };
  auto group = std::make_shared<Group>(first());
  if (options.lr) group->set_lr(*options.lr);
  if (options.momentum) group->set_momentum(*options.momentum);
  if (options.weight_decay) group->set_weight_decay(*options.weight_decay);
  if (groups_.empty()) {
    groups_.push_back(std::make_shared<Group>(*this));
    groups_[0]->initial_lr_ = initial_lr_;
  }
  groups_.push_back(std::move(group));
}

GPUNET_INLINE void Rates::visit_rates(StateVisitor& state) {
  for (index_t i = 0; i < groups(); ++i) {
    Rates& of = group(i);
    const std::string name = concat("param_groups.", i, ".");
    state.value(name + "lr", of.lr_);
    if (has_momentum_) state.value(name + "momentum", of.momentum_);
    if (has_weight_decay_) state.value(name + "weight_decay", of.weight_decay_);
    const bool has_initial = state.has(name + "initial_lr", of.initial_lr_.has_value());
    double initial = of.initial_lr_.value_or(0);
    if (has_initial) state.value(name + "initial_lr", initial);
    if (state.is_reading()) of.initial_lr_ = has_initial ? std::optional(initial) : std::nullopt;
  }
}

}  // namespace gpunet::optim
