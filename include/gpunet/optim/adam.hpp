// Adam and AdamW: gradient descent with step sizes adapted to each parameter.
#pragma once

#include <cmath>

#include <gpunet/core/math.hpp>
#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

// Options of torch.optim.Adam; AdamStep has the formula.
struct AdamOptions {
  double lr = 0.001;                        // learning rate: about the largest step of a parameter
  std::array<double, 2> betas{0.9, 0.999};  // decay rates of the averages of g' and g'^2, below 1
  double eps = 1e-8;                        // added to the divisor, which must not be 0
  double weight_decay = 0;                  // this times the parameter is added to its gradient
  // Divides by the largest average of g'^2 so far (Reddi et al. 2018).
  bool amsgrad = false;
  bool decoupled_weight_decay = false;  // as AdamW does
};

// Options of torch.optim.AdamW; see AdamOptions.
struct AdamWOptions {
  double lr = 0.001;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.01;  // a step subtracts lr times this times the parameter
  bool amsgrad = false;
};

// Step t of torch.optim.Adam (Kingma and Ba 2015; AdamW: Loshchilov and Hutter 2019), where
// g' = g + weight_decay p:
//   m = m + (1 - beta1) (g' - m);   v = beta2 v + (1 - beta2) g'^2
//   amsgrad: u = max(u, v), else u = v
//   p -= lr / c1 * m / (sqrt(u / c2) + eps);   c1 = 1 - beta1^t;   c2 = 1 - beta2^t
// AdamW decays the parameters instead of the gradients: g' = g, and p is first replaced by p - lr
// weight_decay p. Numerator and denominator are multiplied by sqrt(c2), which saves a division. One
// index = one parameter.
template <class T>
struct AdamStep : Update<AdamStep<T>, T, 2, 1> {
  T rate;          // lr sqrt(c2) / c1
  T keep, beta;    // 1 - beta1, beta2
  T rest, eps;     // 1 - beta2, eps sqrt(c2)
  T weight_decay;  // 0 for AdamW
  // lr weight_decay for AdamW, else 0. Not stored as 1 - decay, whose rounding would add up over
  // steps.
  T decay;

  template <bool amsgrad>
  GPUNET_FN void run(index_t i) const {
    T *const mean = this->kept[0], *const square = this->kept[1], *const highest = this->kept[2];
    const T p = this->parameter[i];
    const T g = this->gradient[i] + weight_decay * p;
    const T m = mean[i] + keep * (g - mean[i]);
    T v = beta * square[i] + rest * g * g;
    mean[i] = m;
    square[i] = v;
    if constexpr (amsgrad) {
      const T before = highest[i];
      highest[i] = v = v < before ? before : v;
    }
    this->parameter[i] = p - decay * p - rate * m / (square_root(v) + eps);
  }
};

// The optimizer Adam for the parameters of a model, which must outlive it:
//   optim::Adam optimizer(net, {.lr = 0.01});
template <class D, class T = float>
class Adam : public Optimizer<Adam<D, T>, D, T, 3> {
  using Base = Optimizer<Adam, D, T, 3>;

 public:
  explicit Adam(Network<D, T>& model, AdamOptions options = {}) : Adam(model, "Adam", options) {}

  // Updates some parameters of a model:
  //   optim::Adam optimizer(net.parameters("fc.*"), {.lr = 0.01});
  explicit Adam(const Parameters<D, T>& parameters, AdamOptions options = {})
      : Adam(parameters.network(), options) {
    this->select(parameters.indices());
  }

  // Names of its arrays in PyTorch's state dict.
  static constexpr std::array<const char*, 3> state_names{"exp_avg", "exp_avg_sq",
                                                          "max_exp_avg_sq"};

  std::array<bool, 3> keeps(double) const { return {{true, true, options_.amsgrad}}; }

  // Visits the options other than rates.
  void visit_options(const OptionVisitor& visit) const {
    visit("betas.1", options_.betas[1]);
    visit("eps", options_.eps);
    visit("amsgrad", options_.amsgrad);
    visit("decoupled_weight_decay", options_.decoupled_weight_decay);
  }

  // Returns the update of a step.
  AdamStep<T> next(const GroupStep& of) const {
    const double lr = of.lr, beta1 = of.momentum, beta2 = options_.betas[1],
                 decay = of.weight_decay;
    const bool decoupled = options_.decoupled_weight_decay;
    const double correction1 = 1 - std::pow(beta1, of.number),
                 root = std::sqrt(1 - std::pow(beta2, of.number));
    return this->template update<AdamStep<T>>(lr * root / correction1, 1 - beta1, beta2, 1 - beta2,
                                              options_.eps * root, decoupled ? 0 : decay,
                                              decoupled ? lr * decay : 0);
  }

 protected:
  Adam(Network<D, T>& model, const char* name, const AdamOptions& options)
      : Base(model, name, options.lr, options.betas[0], options.weight_decay), options_(options) {
    this->check_option("epsilon value", options.eps);
    this->check_betas(options.betas);
  }

 private:
  AdamOptions options_;
};

// The optimizer AdamW, Adam with decoupled weight decay:
//   optim::AdamW optimizer(net, {.lr = 0.01, .weight_decay = 0.1});
template <class D, class T = float>
class AdamW : public Adam<D, T> {
 public:
  explicit AdamW(Network<D, T>& model, AdamWOptions options = {})
      : Adam<D, T>(
            model, "AdamW",
            {options.lr, options.betas, options.eps, options.weight_decay, options.amsgrad, true}) {
  }
  explicit AdamW(const Parameters<D, T>& parameters, AdamWOptions options = {})
      : AdamW(parameters.network(), options) {
    this->select(parameters.indices());
  }
};

GPUNET_REFUSED_OPTIMIZERS(Adam)

GPUNET_REFUSED_OPTIMIZERS(AdamW)

}  // namespace gpunet::optim
