// Adam, stochastic gradient descent with steps of adapted length.
#pragma once

#include <array>
#include <cmath>

#include <gpunet/core/square_root.hpp>
#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

struct AdamOptions {
  double lr = 0.001;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
};

// Step t of torch.optim.Adam, where g' = g + weight_decay p:
//   m = m + (1 - beta1) (g' - m);   v = beta2 v + (1 - beta2) g'^2
//   p -= lr / c1 * m / (sqrt(v / c2) + eps);   c1 = 1 - beta1^t;   c2 = 1 - beta2^t
// Both sides of the fraction are multiplied by sqrt(c2), which saves a division. One index = one parameter.
template <class T>
struct AdamStep {
  T rate;        // lr sqrt(c2) / c1
  T keep, beta;  // 1 - beta1, beta2
  T rest, eps;   // 1 - beta2, eps sqrt(c2)
  T weight_decay;
  const T* gradient;
  T *mean, *square, *parameter;

  GPUNET_FN void operator()(index_t i) const {
    const T p = parameter[i];
    const T g = gradient[i] + weight_decay * p;
    const T m = mean[i] + keep * (g - mean[i]);
    const T v = beta * square[i] + rest * g * g;
    mean[i] = m;
    square[i] = v;
    parameter[i] = p - rate * m / (square_root(v) + eps);
  }

  // The arrays that it works on, by number; one that it does without is null.
  static constexpr int arrays = 4;
  GPUNET_FN const T* array(int i) const { return i == 0 ? gradient : i == 1 ? mean : i == 2 ? square : parameter; }
  // The same update of other arrays.
  GPUNET_FN AdamStep on(T* const* others) const {
    AdamStep update = *this;
    update.gradient = others[0];
    update.mean = others[1];
    update.square = others[2];
    update.parameter = others[3];
    return update;
  }
};

// Updates the parameters of a model, which must outlive it: optim::Adam optimizer(net, {.lr = 0.01});
template <class Model>
class Adam : public Optimizer<Model, AdamOptions> {
  using Base = Optimizer<Model, AdamOptions>;
  using Base::model_, Base::options_;
  using typename Base::D, typename Base::T;

 public:
  explicit Adam(Model& model, AdamOptions options = {}) : Base(model, "Adam", options) {
    this->check_option("epsilon value", options.eps);
    for (std::size_t i = 0; i < 2; ++i)
      require(options.betas[i] >= 0 && options.betas[i] < 1,
              "gpunet::optim::Adam: invalid beta parameter at index ", i, ": ", options.betas[i],
              " (want 0 or more and less than 1)");
    this->check_option("weight_decay value", options.weight_decay);
    moments_ = this->zeros(2);
  }

  // Updates the parameters by their gradients. Does nothing when there was no backward pass since zero_grad().
  void step() {
    if (!model_.gradients().zeroed()) for_each(model_.device(), model_.gradients().size(), next());
  }

  // The update of the next step, which the caller runs for every parameter.
  AdamStep<T> next() {
    ++steps_;
    const auto [beta1, beta2] = options_.betas;
    const double correction1 = 1 - std::pow(beta1, steps_), root = std::sqrt(1 - std::pow(beta2, steps_));
    return {static_cast<T>(options_.lr * root / correction1),
            static_cast<T>(1 - beta1),
            static_cast<T>(beta2),
            static_cast<T>(1 - beta2),
            static_cast<T>(options_.eps * root),
            static_cast<T>(options_.weight_decay),
            model_.gradients().data(),
            moments_.data(),
            moments_.data() + model_.gradients().size(),
            model_.parameters().data()};
  }

 private:
  Buffer<T, D> moments_;  // running means of the gradients, then of their squares
  double steps_ = 0;
};

}  // namespace gpunet::optim
