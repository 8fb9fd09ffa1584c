// The learning rate, momentum and weight decay of an optimizer, which may change during training.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/core/error.hpp>
#include <gpunet/core/tracked_pointer.hpp>

namespace gpunet {
class StateVisitor;  // core/state.hpp
}

namespace gpunet::optim {

// Throws Error unless `is_fine`: "gpunet::optim::NAME: invalid WHAT 2 (want 0 to 1)".
template <class T>
void require_option(bool is_fine, const char* name, const char* what, T value, const char* want) {
  require(is_fine, "gpunet::optim::", name, ": invalid ", what, " ", value, " (want ", want, ")");
}
// Throws Error unless the option is 0 or more, and finite as a float, which steps compute with.
void require_option(const char* name, const char* what, double value);

// Options of a group of parameters; an option that is not given is the optimizer's.
struct ParamGroupOptions {
  std::optional<double> lr = std::nullopt;
  std::optional<double> momentum = std::nullopt;  // of optimizers with betas, the first one
  std::optional<double> weight_decay = std::nullopt;
};

// The rates of an optimizer, or of one of its groups of parameters. Schedules (lr_scheduler.hpp)
// change them between steps, and follow an optimizer that is moved. The rates of an optimizer with
// several groups are the first group's, and setting one sets it in all groups.
class Rates : public Trackable<Rates> {
 public:
  // Name in messages.
  static constexpr const char* type_name = "optim::Optimizer";

  double lr() const { return first().lr_; }
  // Throws Error for a learning rate that is negative, or not finite as a float.
  void set_lr(double lr) { set("learning rate", &Rates::lr_, lr); }

  // Of an optimizer with betas, the first one. Adagrad, Adadelta and LBFGS have none: 0, and an
  // Error if it is set.
  double momentum() const { return first().momentum_; }
  void set_momentum(double momentum) {
    require_momentum();
    set("momentum value", &Rates::momentum_, momentum);
  }
  // Throws Error if the optimizer has no momentum.
  void require_momentum() const;

  // LBFGS has none: 0, and an Error if it is set.
  double weight_decay() const { return first().weight_decay_; }
  void set_weight_decay(double weight_decay);

  // Returns the learning rate that schedules start from: the optimizer's when the first schedule
  // was constructed.
  double initial_lr();
  void set_initial_lr(double lr);

  // Returns the number of groups of parameters, which have rates of their own, and the rates of
  // group i: 0 has the parameters that no other group names. Throws Error if there is no such
  // group.
  index_t groups() const { return groups_.empty() ? 1 : std::ssize(groups_); }
  Rates& group(index_t i);
  const Rates& group(index_t i) const { return const_cast<Rates*>(this)->group(i); }

 protected:
  // No momentum, no weight decay: an optimizer without.
  Rates(const char* name, double lr, std::optional<double> momentum,
        std::optional<double> weight_decay = 0);
  Rates(Rates&&) noexcept;
  ~Rates();

  // Writes or reads the rates of all groups, for a checkpoint.
  void visit_rates(StateVisitor& state);

  // Appends a group.
  void add_rates(const ParamGroupOptions& options);

  void check_option(const char* what, double value) const { require_option(name_, what, value); }
  // Throws Error unless both are 0 or more and less than 1.
  void check_betas(const std::array<double, 2>& betas) const;

  const char* const name_;

 private:
  const Rates& first() const { return groups_.empty() ? *this : *groups_[0]; }
  void set(const char* what, double Rates::*rate, double value);

  double lr_ = 0, momentum_ = 0, weight_decay_ = 0;
  bool has_momentum_ = true, has_weight_decay_ = true;
  std::optional<double> initial_lr_;
  std::vector<std::shared_ptr<Rates>> groups_;  // none: this is the only one
};

}  // namespace gpunet::optim

#if !GPUNET_COMPILED
#include <gpunet/optim/rates.ipp>
#endif
