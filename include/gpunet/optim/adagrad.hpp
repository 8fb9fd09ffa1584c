// Adagrad: gradient descent with gradients divided by the root of the sum of their squares.
#pragma once

#include <gpunet/core/math.hpp>
#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

// Options of torch.optim.Adagrad; AdagradStep has the formula.
struct AdagradOptions {
  double lr = 0.01;                      // learning rate
  double lr_decay = 0;                   // step t has the learning rate lr / (1 + (t - 1) lr_decay)
  double weight_decay = 0;               // this times the parameter is added to its gradient
  double initial_accumulator_value = 0;  // the sum of squares before the first step
  double eps = 1e-10;                    // added to the divisor, which must not be 0
};

// Step t of torch.optim.Adagrad (Duchi, Hazan and Singer 2011), where g' = g + weight_decay p:
//   s = s + g'^2;   p -= lr / (1 + (t - 1) lr_decay) * g' / (sqrt(s) + eps)
// One index = one parameter.
template <class T>
struct AdagradStep : Update<AdagradStep<T>, T, 1, 0> {
  T rate, eps, weight_decay;
  T initial;  // added to s: its initial value in the first step, then 0

  template <bool...>
  GPUNET_FN void run(index_t i) const {
    T* const sum = this->kept[0];
    const T p = this->parameter[i];
    const T g = this->gradient[i] + weight_decay * p;
    const T s = sum[i] = sum[i] + initial + g * g;
    this->parameter[i] = p - rate * (g / (square_root(s) + eps));
  }
};

// The optimizer Adagrad for the parameters of a model, which must outlive it:
//   optim::Adagrad optimizer(net, {.lr = 0.1});
template <class D, class T = float>
class Adagrad : public Optimizer<Adagrad<D, T>, D, T, 1> {
  using Base = Optimizer<Adagrad, D, T, 1>;

 public:
  explicit Adagrad(Network<D, T>& model, AdagradOptions options = {})
      : Base(model, "Adagrad", options.lr, std::nullopt, options.weight_decay), options_(options) {
    this->check_option("lr_decay value", options.lr_decay);
    this->check_option("initial_accumulator_value value", options.initial_accumulator_value);
    this->check_option("epsilon value", options.eps);
  }

  // Updates some parameters of a model:
  //   optim::Adagrad optimizer(net.parameters("fc.*"), {.lr = 0.1});
  explicit Adagrad(const Parameters<D, T>& parameters, AdagradOptions options = {})
      : Adagrad(parameters.network(), options) {
    this->select(parameters.indices());
  }

  // Names of its arrays in PyTorch's state dict.
  static constexpr std::array<const char*, 1> state_names{"sum"};

  std::array<bool, 1> keeps(double) const { return {{true}}; }

  // Visits the options other than rates.
  void visit_options(const OptionVisitor& visit) const {
    visit("lr_decay", options_.lr_decay);
    visit("initial_accumulator_value", options_.initial_accumulator_value);
    visit("eps", options_.eps);
  }

  // Returns the update of a step.
  AdagradStep<T> next(const GroupStep& of) const {
    return this->template update<AdagradStep<T>>(
        of.lr / (1 + (of.number - 1) * options_.lr_decay), options_.eps, of.weight_decay,
        of.number == 1 ? options_.initial_accumulator_value : 0);
  }

 private:
  AdagradOptions options_;
};

GPUNET_REFUSED_OPTIMIZERS(Adagrad)

}  // namespace gpunet::optim
