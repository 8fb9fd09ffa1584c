// RAdam: Adam that begins without adapted step sizes.
#pragma once

#include <cmath>

#include <gpunet/core/math.hpp>
#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

// Options of torch.optim.RAdam; RAdamStep has the formula.
struct RAdamOptions {
  double lr = 0.001;                        // learning rate: about the largest step of a parameter
  std::array<double, 2> betas{0.9, 0.999};  // decay rates of the averages of g' and g'^2, below 1
  double eps = 1e-8;                        // added to the divisor, which must not be 0
  double weight_decay = 0;                  // this times the parameter is added to its gradient
  bool decoupled_weight_decay = false;      // decays parameters instead of gradients, as AdamW does
};

// Step t of torch.optim.RAdam (Liu et al. 2019), where g' = g + weight_decay p:
//   m = m + (1 - beta1) (g' - m);   v = beta2 v + (1 - beta2) g'^2
//   c1 = 1 - beta1^t;   c2 = 1 - beta2^t
//   n = 2 / (1 - beta2) - 1;   r = n - 2 t beta2^t / c2
//   s = sqrt((r - 4) (r - 2) n / ((n - 4) (n - 2) r)) * sqrt(c2) / (sqrt(v) + eps)
//   r > 5:  p -= lr / c1 * m * s
//   else:   p -= lr / c1 * m
// n and r are lengths of the average: the limit, and that of step t.
// With decoupled weight decay, g' = g, and p is first replaced by p - lr weight_decay p. One
// index = one parameter.
template <class T>
struct RAdamStep : Update<RAdamStep<T>, T, 2, 0> {
  T rate;                 // of m, or of m / (sqrt(v) + eps)
  T keep, beta;           // 1 - beta1, beta2
  T rest, eps;            // 1 - beta2
  T weight_decay, decay;  // one of them is 0; decay = lr weight_decay
  bool adapts = false;    // r > 5

  template <bool...>
  GPUNET_FN void run(index_t i) const {
    T *const mean = this->kept[0], *const square = this->kept[1];
    const T p = this->parameter[i];
    const T g = this->gradient[i] + weight_decay * p;
    const T m = mean[i] = mean[i] + keep * (g - mean[i]);
    const T v = square[i] = beta * square[i] + rest * g * g;
    this->parameter[i] = p - decay * p - (adapts ? rate * m / (square_root(v) + eps) : rate * m);
  }
};

// The optimizer RAdam for the parameters of a model, which must outlive it:
//   optim::RAdam optimizer(net, {.lr = 0.01});
template <class D, class T = float>
class RAdam : public Optimizer<RAdam<D, T>, D, T, 2> {
  using Base = Optimizer<RAdam, D, T, 2>;

 public:
  explicit RAdam(Network<D, T> &model, RAdamOptions options = {})
      : Base(model, "RAdam", options.lr, options.betas[0], options.weight_decay),
        options_(options) {
    this->check_option("epsilon value", options.eps);
    this->check_betas(options.betas);
  }

  // Updates some parameters of a model:
  //   optim::RAdam optimizer(net.parameters("fc.*"), {.lr = 0.01});
  explicit RAdam(const Parameters<D, T> &parameters, RAdamOptions options = {})
      : RAdam(parameters.network(), options) {
    this->select(parameters.indices());
  }

  // Names of its arrays in PyTorch's state dict.
  static constexpr std::array<const char *, 2> state_names{"exp_avg", "exp_avg_sq"};

  std::array<bool, 2> keeps(double) const { return {{true, true}}; }

  // Visits the options other than rates.
  void visit_options(const OptionVisitor &visit) const {
    visit("betas.1", options_.betas[1]);
    visit("eps", options_.eps);
    visit("decoupled_weight_decay", options_.decoupled_weight_decay);
  }

  // Returns the update of a step.
  RAdamStep<T> next(const GroupStep &of) const {
    const double beta1 = of.momentum, beta2 = options_.betas[1], power = std::pow(beta2, of.number);
    const double limit = 2 / (1 - beta2) - 1, length = limit - 2 * of.number * power / (1 - power);
    double rate = of.lr / (1 - std::pow(beta1, of.number));
    const bool adapts = length > 5;
    if (adapts)
      rate *= std::sqrt((1 - power) * (length - 4) * (length - 2) * limit /
                        ((limit - 4) * (limit - 2) * length));
    const bool decoupled = options_.decoupled_weight_decay;
    auto step = this->template update<RAdamStep<T>>(rate, 1 - beta1, beta2, 1 - beta2, options_.eps,
                                                    decoupled ? 0 : of.weight_decay,
                                                    decoupled ? of.lr * of.weight_decay : 0);
    step.adapts = adapts;
    return step;
  }

 private:
  RAdamOptions options_;
};

GPUNET_REFUSED_OPTIMIZERS(RAdam)

}  // namespace gpunet::optim
