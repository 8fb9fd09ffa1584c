// Lion: steps of the same length for all parameters, by the sign of an average.
#pragma once

#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

// Options of Lion. PyTorch has no such optimizer; names and defaults are as in the authors'
// implementation (google/automl) and in the package lion-pytorch.
struct LionOptions {
  // Learning rate: the length of every step, usually a third to a tenth of Adam's.
  double lr = 1e-4;
  // The share of the average in a step, and its decay rate; below 1.
  std::array<double, 2> betas{0.9, 0.99};
  double weight_decay = 0;  // a step subtracts lr times this times the parameter
};

// One step of Lion (Chen et al. 2023, algorithm 2):
//   p -= lr weight_decay p + lr sign(beta1 m + (1 - beta1) g);   m = beta2 m + (1 - beta2) g
// One index = one parameter.
template <class T>
struct LionStep : Update<LionStep<T>, T, 1, 0> {
  T lr, decay;                                      // decay = lr weight_decay
  T mean_share, gradient_share, beta, gradient_in;  // beta1, 1 - beta1, beta2, 1 - beta2

  template <bool...>
  GPUNET_FN void run(index_t i) const {
    T* const mean = this->kept[0];
    const T p = this->parameter[i], g = this->gradient[i], m = mean[i];
    const T c = mean_share * m + gradient_share * g;
    const T sign = static_cast<T>(c > T{}) - static_cast<T>(c < T{});
    mean[i] = beta * m + gradient_in * g;
    this->parameter[i] = p - decay * p - lr * sign;
  }
};

// The optimizer Lion for the parameters of a model, which must outlive it:
//   optim::Lion optimizer(net, {.lr = 1e-4, .weight_decay = 1e-2});
template <class D, class T = float>
class Lion : public Optimizer<Lion<D, T>, D, T, 1> {
  using Base = Optimizer<Lion, D, T, 1>;

 public:
  explicit Lion(Network<D, T>& model, LionOptions options = {})
      : Base(model, "Lion", options.lr, options.betas[0], options.weight_decay), options_(options) {
    this->check_betas(options.betas);
  }

  // Updates some parameters of a model:
  //   optim::Lion optimizer(net.parameters("fc.*"), {.lr = 1e-4});
  explicit Lion(const Parameters<D, T>& parameters, LionOptions options = {})
      : Lion(parameters.network(), options) {
    this->select(parameters.indices());
  }

  // Names of its arrays in PyTorch's state dict.
  static constexpr std::array<const char*, 1> state_names{"exp_avg"};

  std::array<bool, 1> keeps(double) const { return {{true}}; }

  // Visits the options other than rates.
  void visit_options(const OptionVisitor& visit) const { visit("betas.1", options_.betas[1]); }

  // Returns the update of a step.
  LionStep<T> next(const GroupStep& of) const {
    const double beta1 = of.momentum, beta2 = options_.betas[1];
    return this->template update<LionStep<T>>(of.lr, of.lr * of.weight_decay, beta1, 1 - beta1,
                                              beta2, 1 - beta2);
  }

 private:
  LionOptions options_;
};

GPUNET_REFUSED_OPTIMIZERS(Lion)

}  // namespace gpunet::optim
