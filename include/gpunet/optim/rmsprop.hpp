// RMSprop: gradient descent with gradients divided by their running root mean square.
#pragma once

#include <cmath>

#include <gpunet/core/math.hpp>
#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

// Options of torch.optim.RMSprop; RMSpropStep has the formula.
struct RMSpropOptions {
  double lr = 0.01;         // learning rate
  double alpha = 0.99;      // decay rate of the average of g'^2, 0 to 1
  double eps = 1e-8;        // added to the divisor, which must not be 0
  double weight_decay = 0;  // this times the parameter is added to its gradient
  double momentum = 0;      // this times the last step is added to the next
  // Divides by the standard deviation of g' instead of its root mean square.
  bool centered = false;
};

// One step of torch.optim.RMSprop (Hinton, lecture 6 of Neural Networks for Machine Learning,
// 2012), where g' = g + weight_decay p:
//   v = alpha v + (1 - alpha) g'^2
//   centered: m = m + (1 - alpha) (g' - m), u = v - m^2, else u = v
//   b = momentum b + g' / (sqrt(u) + eps);   p -= lr b      (without momentum: b is the fraction)
// If rounding makes u negative, |u| is used; PyTorch's result is NaN. One index = one parameter.
template <class T>
struct RMSpropStep : Update<RMSpropStep<T>, T, 1, 2> {
  T lr, alpha, rest, eps;  // rest = 1 - alpha
  T weight_decay, momentum;

  template <bool centered, bool has_momentum>
  GPUNET_FN void run(index_t i) const {
    T *const square = this->kept[0], *const mean = this->kept[1], *const velocity = this->kept[2];
    const T p = this->parameter[i];
    const T g = this->gradient[i] + weight_decay * p;
    T v = alpha * square[i] + rest * g * g;
    square[i] = v;
    if constexpr (centered) {
      const T m = mean[i] + rest * (g - mean[i]);
      mean[i] = m;
      v = std::abs(v - m * m);
    }
    T b = g / (square_root(v) + eps);
    if constexpr (has_momentum) velocity[i] = b = momentum * velocity[i] + b;
    this->parameter[i] = p - lr * b;
  }
};

// The optimizer RMSprop for the parameters of a model, which must outlive it:
//   optim::RMSprop optimizer(net, {.lr = 0.001, .alpha = 0.9});
template <class D, class T = float>
class RMSprop : public Optimizer<RMSprop<D, T>, D, T, 3> {
  using Base = Optimizer<RMSprop, D, T, 3>;

 public:
  explicit RMSprop(Network<D, T> &model, RMSpropOptions options = {})
      : Base(model, "RMSprop", options.lr, options.momentum, options.weight_decay),
        options_(options) {
    this->check_option("epsilon value", options.eps);
    this->check_option("momentum value", options.momentum);
    require_option(options.alpha >= 0 && options.alpha <= 1, this->name_, "alpha value",
                   options.alpha, "0 to 1");
  }

  // Updates some parameters of a model:
  //   optim::RMSprop optimizer(net.parameters("fc.*"), {.lr = 0.001});
  explicit RMSprop(const Parameters<D, T> &parameters, RMSpropOptions options = {})
      : RMSprop(parameters.network(), options) {
    this->select(parameters.indices());
  }

  // Names of its arrays in PyTorch's state dict.
  static constexpr std::array<const char *, 3> state_names{"square_avg", "grad_avg",
                                                           "momentum_buffer"};

  std::array<bool, 3> keeps(double momentum) const {
    return {{true, options_.centered, momentum > 0}};
  }

  // Visits the options other than rates.
  void visit_options(const OptionVisitor &visit) const {
    visit("alpha", options_.alpha);
    visit("eps", options_.eps);
    visit("centered", options_.centered);
  }

  // Returns the update of a step.
  RMSpropStep<T> next(const GroupStep &of) const {
    return this->template update<RMSpropStep<T>>(of.lr, options_.alpha, 1 - options_.alpha,
                                                 options_.eps, of.weight_decay, of.momentum);
  }

 private:
  RMSpropOptions options_;
};

GPUNET_REFUSED_OPTIMIZERS(RMSprop)

}  // namespace gpunet::optim
