// Stochastic gradient descent.
#pragma once

#include <utility>

#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

struct SGDOptions {
  double lr = 0.001;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
};

// One step of torch.optim.SGD, with g' = g + weight_decay p:
//   v = g' in the first step, else momentum v + (1 - dampening) g'      (without momentum: v = g')
//   p -= lr (nesterov ? g' + momentum v : v)
// One index = one parameter.
template <class T>
struct SgdStep {
  T lr, momentum, keep, weight_decay;  // keep = 1 - dampening, or 1 in the first step
  bool has_momentum, nesterov;
  const T* gradient;
  T* velocity;
  T* parameter;

  GPUNET_FN void operator()(index_t i) const {
    const T p = parameter[i];
    const T g = weight_decay != T{} ? gradient[i] + weight_decay * p : gradient[i];
    T v = g;
    if (has_momentum) velocity[i] = v = momentum * velocity[i] + keep * g;
    parameter[i] = p - lr * (nesterov ? g + momentum * v : v);
  }

  // The arrays that it works on, by number; one that it does without is null.
  static constexpr int arrays = 3;
  GPUNET_FN const T* array(int i) const { return i == 0 ? gradient : i == 1 ? velocity : parameter; }
  // The same update of other arrays.
  GPUNET_FN SgdStep on(T* const* others) const {
    SgdStep update = *this;
    update.gradient = others[0];
    update.velocity = others[1];
    update.parameter = others[2];
    return update;
  }
};

// Updates the parameters of a model, which must outlive it: optim::SGD optimizer(net, {.lr = 0.001f, .momentum =
// 0.9f}).
template <class Model>
class SGD : public Optimizer<Model, SGDOptions> {
  using Base = Optimizer<Model, SGDOptions>;
  using Base::model_, Base::options_;
  using typename Base::D, typename Base::T;

 public:
  explicit SGD(Model& model, SGDOptions options = {}) : Base(model, "SGD", options) {
    this->check_option("momentum value", options.momentum);
    this->check_option("weight_decay value", options.weight_decay);
    require(!options.nesterov || (options.momentum > 0 && options.dampening == 0),
            "gpunet::optim::SGD: Nesterov momentum requires a momentum and zero dampening");
    if (options.momentum != 0) velocity_ = this->zeros(1);
  }

  // Updates the parameters by their gradients. Does nothing when there was no backward pass since zero_grad().
  void step() {
    if (!model_.gradients().zeroed()) for_each(model_.device(), model_.gradients().size(), next());
  }

  // The update of the next step, which the caller runs for every parameter.
  SgdStep<T> next() {
    const T keep = std::exchange(first_, false) ? T{1} : T{1} - static_cast<T>(options_.dampening);
    return {static_cast<T>(options_.lr),
            static_cast<T>(options_.momentum),
            keep,
            static_cast<T>(options_.weight_decay),
            options_.momentum != 0,
            options_.nesterov,
            model_.gradients().data(),
            velocity_.data(),
            model_.parameters().data()};
  }

 private:
  Buffer<T, D> velocity_;
  bool first_ = true;
};

}  // namespace gpunet::optim
