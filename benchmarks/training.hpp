// Training steps and inference as work.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "work.hpp"

namespace bench {

// The optimizers of the jobs, and how many numbers they store per parameter.
struct Momentum {
  static constexpr int numbers = 1;
  template <class Model>
  static auto make(Model& model) {
    return gpunet::optim::SGD(model, {.lr = 0.001, .momentum = 0.9});
  }
};

// lr in thousandths.
template <int LR>
struct Adam {
  static constexpr int numbers = 2;
  template <class Model>
  static auto make(Model& model) {
    return gpunet::optim::Adam(model, {.lr = LR / 1000.0});
  }
};

// Training steps of one network on one batch: forward pass, loss, backward pass, update.
template <class Net, class Optimizer, class D = Host>
class Training : public Work {
  using Model = gpunet::Model<Net, D>;
  using Optim = decltype(Optimizer::make(std::declval<Model&>()));

 public:
  Training(D& device, index_t batch)
      : device_(device),
        inputs_(spread_values(device, Net().input().sizes().with_front(batch))),
        labels_(spread_labels(device, batch, Net().output().numel())) {}

  void start() override {
    gpunet::manual_seed(0);
    step_.reset();
    optimizer_.reset();
    model_.emplace(device_);
    optimizer_ = std::make_unique<Optim>(Optimizer::make(*model_));
    step_.emplace(*model_, gpunet::nn::CrossEntropyLoss(), *optimizer_);
  }
  void run(index_t steps) override {
    for (index_t i = 0; i < steps - 1; ++i)
      (*step_)(inputs_, labels_);
    loss_ = (*step_)(inputs_, labels_).item();
  }
  double value() const override { return loss_; }

 protected:
  D& device_;
  gpunet::Tensor<float, D> inputs_;
  gpunet::Tensor<gpunet::label_t, D> labels_;
  std::optional<Model> model_;
  std::unique_ptr<Optim> optimizer_;
  std::optional<gpunet::train::Step<D, float, gpunet::nn::CrossEntropyLoss, Optim>> step_;
  double loss_ = 0;
};

// Training steps by Step::repeat, a hundred per call, as in the Iris lesson, where the whole dataset is one batch.
template <class Net, class Optimizer, class D = Host>
class RepeatedTraining : public Training<Net, Optimizer, D> {
 public:
  using Training<Net, Optimizer, D>::Training;
  void run(index_t steps) override {
    constexpr index_t lesson = 100;
    for (; steps > 0; steps -= lesson)
      this->loss_ = this->step_->repeat(std::min(steps, lesson), this->inputs_, this->labels_).to_vector().back();
  }
};

// The network's output for one sample, which is read after each step.
template <class Net>
class Inference : public Work {
 public:
  explicit Inference(Host& device)
      : device_(device),
        inputs_(spread_values(device, Net().input().sizes().with_front(1))),
        output_(static_cast<std::size_t>(Net().output().numel())) {}

  void start() override {
    gpunet::manual_seed(0);
    model_.emplace(device_);
  }
  void run(index_t steps) override {
    for (index_t i = 0; i < steps; ++i)
      (*model_)(inputs_).each_slice([this](const gpunet::Slice& slice, index_t, const float* y) {
        for (std::size_t k = 0; k < output_.size(); ++k)
          output_[k] = y[static_cast<index_t>(k) * slice.inner];
      });
  }
  double value() const override { return output_[0]; }

 private:
  Host& device_;
  gpunet::Tensor<float, Host> inputs_;
  std::vector<float> output_;
  std::optional<gpunet::Model<Net, Host>> model_;
};

}  // namespace bench
