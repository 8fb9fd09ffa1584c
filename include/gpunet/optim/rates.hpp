// The learning rate and momentum of an optimizer, which may change during training.
#pragma once

#include <array>
#include <optional>

#include <gpunet/core/error.hpp>
#include <gpunet/core/tracked_pointer.hpp>

namespace gpunet::optim {

// Throws Error unless `is_fine`: "gpunet::optim::NAME: invalid WHAT 2 (want 0 to 1)".
template <class T>
void require_option(bool is_fine, const char* name, const char* what, T value, const char* want) {
  require(is_fine, "gpunet::optim::", name, ": invalid ", what, " ", value, " (want ", want, ")");
}
// Throws Error unless the option is 0 or more, and finite as a float, which steps compute with.
void require_option(const char* name, const char* what, double value);

// The learning rate and momentum of an optimizer. Schedules (lr_scheduler.hpp) change them between steps, and follow an
// optimizer that is moved.
class Rates : public Trackable<Rates> {
 public:
  // Name in messages.
  static constexpr const char* type_name = "optim::Optimizer";

  double lr() const { return lr_; }
  // Throws Error for a learning rate that is negative, or not finite as a float.
  void set_lr(double lr) {
    this->here();
    check_option("learning rate", lr);
    lr_ = lr;
  }

  // Of an optimizer with betas, the first one. Adagrad and Adadelta have none: 0, and an Error if it is set.
  double momentum() const { return momentum_; }
  void set_momentum(double momentum) {
    this->here();
    require(
        has_momentum_, "gpunet::optim::", name_,
        ": has no momentum (a schedule of one would change nothing), for OneCycleLR set cycle_momentum to false");
    check_option("momentum value", momentum);
    momentum_ = momentum;
  }

  // Returns the learning rate that schedules start from: the optimizer's when the first schedule was constructed.
  double initial_lr() {
    if (!initial_lr_) initial_lr_ = lr_;
    return *initial_lr_;
  }
  void set_initial_lr(double lr) {
    set_lr(lr);
    initial_lr_ = lr;
  }

 protected:
  Rates(const char* name, double lr, double momentum) : name_(name) {
    set_lr(lr);
    momentum_ = momentum;
  }
  // An optimizer without momentum.
  Rates(const char* name, double lr) : Rates(name, lr, 0) { has_momentum_ = false; }
  Rates(Rates&&) = default;
  ~Rates() = default;

  void check_option(const char* what, double value) const { require_option(name_, what, value); }
  // Throws Error unless both are 0 or more and less than 1.
  void check_betas(const std::array<double, 2>& betas) const;

  const char* const name_;

 private:
  double lr_ = 0, momentum_ = 0;
  bool has_momentum_ = true;
  std::optional<double> initial_lr_;
};

}  // namespace gpunet::optim

#if !GPUNET_COMPILED
#include <gpunet/optim/rates.ipp>
#endif
