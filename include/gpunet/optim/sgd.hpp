// Stochastic gradient descent (SGD).
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

// Options of torch.optim.SGD; SgdStep has the formula.
struct SGDOptions {
  double lr = 0.001;        // learning rate: the gradient times this is subtracted
  double momentum = 0;      // decay rate of the velocity; 0: no velocity
  double dampening = 0;     // the share of the gradient that is not added to the velocity
  double weight_decay = 0;  // this times the parameter is added to its gradient
  bool nesterov = false;    // Nesterov momentum; requires momentum > 0 and dampening = 0
};

// One step of torch.optim.SGD, with g' = g + weight_decay p:
//   v = g' in the first step, else momentum v + (1 - dampening) g'      (without momentum: v = g')
//   p -= lr (nesterov ? g' + momentum v : v)
// One index = one parameter.
template <class T>
struct SgdStep : Update<SgdStep<T>, T, 0, 1> {
  T lr, momentum, keep, weight_decay;  // keep = 1 - dampening, or 1 in the first step
  bool nesterov = false;

  template <bool has_momentum>
  GPUNET_FN void run(index_t i) const {
    [[maybe_unused]] T* const velocity = this->kept[0];
    const T p = this->parameter[i];
    const T g = weight_decay != T{} ? this->gradient[i] + weight_decay * p : this->gradient[i];
    if constexpr (has_momentum) {
      const T v = velocity[i] = momentum * velocity[i] + keep * g;
      this->parameter[i] = p - lr * (nesterov ? g + momentum * v : v);
    } else {
      this->parameter[i] = p - lr * g;
    }
  }
};

// The optimizer SGD for the parameters of a model, which must outlive it:
//   optim::SGD optimizer(net, {.lr = 0.001f, .momentum = 0.9f});
template <class D, class T = float>
class SGD : public Optimizer<SGD<D, T>, D, T, 1> {
  using Base = Optimizer<SGD, D, T, 1>;

 public:
  explicit SGD(Network<D, T>& model, SGDOptions options = {})
      : Base(model, "SGD", options.lr, options.momentum, options.weight_decay), options_(options) {
    this->check_option("momentum value", options.momentum);
    require_option(std::isfinite(options.dampening), this->name_, "dampening", options.dampening,
                   "a finite number");
    require_option(std::abs(options.dampening) <= double{std::numeric_limits<float>::max()},
                   this->name_, "dampening", options.dampening, "-3.4e38 to 3.4e38, as a float is");
    require(!options.nesterov || (options.momentum > 0 && options.dampening == 0),
            "gpunet::optim::SGD: Nesterov momentum requires a momentum and zero dampening, set "
            "them or leave nesterov out");
  }

  // Updates some parameters of a model:
  //   optim::SGD optimizer(net.parameters("fc.*"), {.lr = 0.1});
  explicit SGD(const Parameters<D, T>& parameters, SGDOptions options = {})
      : SGD(parameters.network(), options) {
    this->select(parameters.indices());
  }

  // Names of its arrays in PyTorch's state dict.
  static constexpr std::array<const char*, 1> state_names{"momentum_buffer"};

  std::array<bool, 1> keeps(double momentum) const { return {{momentum != 0}}; }

  // Visits the options other than rates.
  void visit_options(const OptionVisitor& visit) const {
    visit("dampening", options_.dampening);
    visit("nesterov", options_.nesterov);
  }

  // Returns the update of a step.
  SgdStep<T> next(const GroupStep& of) const {
    auto step = this->template update<SgdStep<T>>(
        of.lr, of.momentum, of.number == 1 ? 1 : 1 - options_.dampening, of.weight_decay);
    step.nesterov = options_.nesterov;
    return step;
  }

 private:
  SGDOptions options_;
};

GPUNET_REFUSED_OPTIMIZERS(SGD)

}  // namespace gpunet::optim
