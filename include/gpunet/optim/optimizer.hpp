// What optimizers have in common.
#pragma once

#include <cmath>

#include <gpunet/core/error.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet::optim {

// The base of optimizers: the model whose parameters they update, which must outlive them, and their options, of which the
// learning rate, lr, is one. They add step().
template <class Model, class Options>
class Optimizer {
 public:
  void zero_grad() { model_.zero_grad(); }

  // May be changed between steps, as a schedule does.
  double lr() const { return options_.lr; }
  void set_lr(double lr) {
    check_option("learning rate", lr);
    options_.lr = lr;
  }

 protected:
  using T = typename Model::value_type;
  using D = typename Model::device_type;

  Optimizer(Model& model, const char* name, const Options& options)
      : model_(model), options_(options), name_(name) {
    check_option("learning rate", options.lr);
  }
  ~Optimizer() = default;

  // Most options are numbers that have to be 0 or more.
  void check_option(const char* what, double value) const {
    require(value >= 0 && std::isfinite(value), "gpunet::optim::", name_, ": invalid ", what, " ", value,
            " (want 0 or more)");
  }

  // So many numbers for each parameter, zero in the beginning.
  Buffer<T, D> zeros(index_t per_parameter) const {
    Buffer<T, D> numbers(model_.device(), per_parameter * model_.gradients().size());
    fill(model_.device(), numbers.size(), T{}, numbers.data());
    return numbers;
  }

  Model& model_;
  Options options_;

 private:
  const char* name_;
};

}  // namespace gpunet::optim
