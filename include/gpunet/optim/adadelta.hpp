// Adadelta: gradient descent with step sizes from averages of gradients and of earlier steps.
#pragma once

#include <gpunet/core/math.hpp>
#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

// Options of torch.optim.Adadelta; AdadeltaStep has the formula.
struct AdadeltaOptions {
  double lr = 1;     // learning rate: multiplies the step
  double rho = 0.9;  // decay rate of both averages, 0 to 1
  // Added to both averages; the second begins at 0, so without it nothing moves.
  double eps = 1e-6;
  double weight_decay = 0;  // this times the parameter is added to its gradient
};

// One step of torch.optim.Adadelta (Zeiler 2012), where g' = g + weight_decay p:
//   v = rho v + (1 - rho) g'^2;   d = sqrt(u + eps) / sqrt(v + eps) * g'
//   u = rho u + (1 - rho) d^2;    p -= lr d
// One index = one parameter.
template <class T>
struct AdadeltaStep : Update<AdadeltaStep<T>, T, 2, 0> {
  T lr, rho, rest, eps;  // rest = 1 - rho
  T weight_decay;

  template <bool...>
  GPUNET_FN void run(index_t i) const {
    T *const square = this->kept[0], *const step = this->kept[1];
    const T p = this->parameter[i];
    const T g = this->gradient[i] + weight_decay * p;
    const T v = square[i] = rho * square[i] + rest * g * g;
    const T u = step[i];
    const T d = square_root(u + eps) / square_root(v + eps) * g;
    step[i] = rho * u + rest * d * d;
    this->parameter[i] = p - lr * d;
  }
};

// The optimizer Adadelta for the parameters of a model, which must outlive it:
//   optim::Adadelta optimizer(net, {.rho = 0.95});
template <class D, class T = float>
class Adadelta : public Optimizer<Adadelta<D, T>, D, T, 2> {
  using Base = Optimizer<Adadelta, D, T, 2>;

 public:
  explicit Adadelta(Network<D, T> &model, AdadeltaOptions options = {})
      : Base(model, "Adadelta", options.lr, std::nullopt, options.weight_decay), options_(options) {
    require_option(options.rho >= 0 && options.rho <= 1, this->name_, "rho value", options.rho,
                   "0 to 1");
    this->check_option("epsilon value", options.eps);
  }

  // Updates some parameters of a model:
  //   optim::Adadelta optimizer(net.parameters("fc.*"), {.rho = 0.95});
  explicit Adadelta(const Parameters<D, T> &parameters, AdadeltaOptions options = {})
      : Adadelta(parameters.network(), options) {
    this->select(parameters.indices());
  }

  // Names of its arrays in PyTorch's state dict.
  static constexpr std::array<const char *, 2> state_names{"square_avg", "acc_delta"};

  std::array<bool, 2> keeps(double) const { return {{true, true}}; }

  // Visits the options other than rates.
  void visit_options(const OptionVisitor &visit) const {
    visit("rho", options_.rho);
    visit("eps", options_.eps);
  }

  // Returns the update of a step.
  AdadeltaStep<T> next(const GroupStep &of) const {
    return this->template update<AdadeltaStep<T>>(of.lr, options_.rho, 1 - options_.rho,
                                                  options_.eps, of.weight_decay);
  }

 private:
  AdadeltaOptions options_;
};

GPUNET_REFUSED_OPTIMIZERS(Adadelta)

}  // namespace gpunet::optim
