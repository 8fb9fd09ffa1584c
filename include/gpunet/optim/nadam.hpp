// NAdam: Adam with Nesterov momentum.
#pragma once

#include <cmath>

#include <gpunet/core/math.hpp>
#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

// Options of torch.optim.NAdam; NAdamStep has the formula.
struct NAdamOptions {
  double lr = 0.002;                        // learning rate: about the largest step of a parameter
  std::array<double, 2> betas{0.9, 0.999};  // decay rates of the averages of g' and g'^2, below 1
  double eps = 1e-8;                        // added to the divisor, which must not be 0
  double weight_decay = 0;                  // this times the parameter is added to its gradient
  // How fast the momentum approaches the first beta from half of it.
  double momentum_decay = 0.004;
  bool decoupled_weight_decay = false;  // decays parameters instead of gradients, as AdamW does
};

// Step t of torch.optim.NAdam (Dozat 2016), where g' = g + weight_decay p:
//   m = m + (1 - beta1) (g' - m);   v = beta2 v + (1 - beta2) g'^2
//   p -= lr (a g' + b m) / (sqrt(v / c2) + eps);   c2 = 1 - beta2^t
//   a = (1 - mu(t)) / (1 - mu(1) ... mu(t));   b = mu(t + 1) / (1 - mu(1) ... mu(t + 1))
//   mu(t) = beta1 (1 - 0.96^(t momentum_decay) / 2)
// With decoupled weight decay, g' = g, and p is first replaced by p - lr weight_decay p. Numerator
// and denominator are multiplied by sqrt(c2), as in AdamStep. One index = one parameter.
template <class T>
struct NAdamStep : Update<NAdamStep<T>, T, 2, 0> {
  T gradient_rate, mean_rate;  // lr a sqrt(c2), lr b sqrt(c2)
  T keep, beta;                // 1 - beta1, beta2
  T rest, eps;                 // 1 - beta2, eps sqrt(c2)
  T weight_decay, decay;       // one of them is 0; decay = lr weight_decay

  template <bool...>
  GPUNET_FN void run(index_t i) const {
    T *const mean = this->kept[0], *const square = this->kept[1];
    const T p = this->parameter[i];
    const T g = this->gradient[i] + weight_decay * p;
    const T m = mean[i] = mean[i] + keep * (g - mean[i]);
    const T v = square[i] = beta * square[i] + rest * g * g;
    this->parameter[i] =
        p - decay * p - (gradient_rate * g + mean_rate * m) / (square_root(v) + eps);
  }
};

// The optimizer NAdam for the parameters of a model, which must outlive it:
//   optim::NAdam optimizer(net, {.lr = 0.01});
template <class D, class T = float>
class NAdam : public Optimizer<NAdam<D, T>, D, T, 2> {
  using Base = Optimizer<NAdam, D, T, 2>;

 public:
  explicit NAdam(Network<D, T> &model, NAdamOptions options = {})
      : Base(model, "NAdam", options.lr, options.betas[0], options.weight_decay),
        options_(options) {
    this->check_option("epsilon value", options.eps);
    this->check_betas(options.betas);
    this->check_option("momentum_decay value", options.momentum_decay);
  }

  // Updates some parameters of a model:
  //   optim::NAdam optimizer(net.parameters("fc.*"), {.lr = 0.01});
  explicit NAdam(const Parameters<D, T> &parameters, NAdamOptions options = {})
      : NAdam(parameters.network(), options) {
    this->select(parameters.indices());
  }

  // Names of its arrays in PyTorch's state dict.
  static constexpr std::array<const char *, 2> state_names{"exp_avg", "exp_avg_sq"};

  std::array<bool, 2> keeps(double) const { return {{true, true}}; }

  // Visits the options other than rates.
  void visit_options(const OptionVisitor &visit) const {
    visit("betas.1", options_.betas[1]);
    visit("eps", options_.eps);
    visit("momentum_decay", options_.momentum_decay);
    visit("decoupled_weight_decay", options_.decoupled_weight_decay);
  }

  // Returns the update of a step. The product of all mu so far is stored; PyTorch stores it in its
  // default dtype, usually float.
  NAdamStep<T> next(const GroupStep &of) const {
    const auto momentum_of = [&](double step) {  // mu(t)
      return of.momentum * (1 - 0.5 * std::pow(0.96, step * options_.momentum_decay));
    };
    const double mu = momentum_of(of.number), next_mu = momentum_of(of.number + 1),
                 product = of.product *= mu;
    const double beta2 = options_.betas[1], root = std::sqrt(1 - std::pow(beta2, of.number)),
                 rate = of.lr * root;
    const bool decoupled = options_.decoupled_weight_decay;
    return this->template update<NAdamStep<T>>(
        rate * (1 - mu) / (1 - product), rate * next_mu / (1 - product * next_mu), 1 - of.momentum,
        beta2, 1 - beta2, options_.eps * root, decoupled ? 0 : of.weight_decay,
        decoupled ? of.lr * of.weight_decay : 0);
  }

 private:
  NAdamOptions options_;
};

GPUNET_REFUSED_OPTIMIZERS(NAdam)

}  // namespace gpunet::optim
