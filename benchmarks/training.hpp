// Training steps and inference as work.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "work.hpp"

namespace bench {

// Whether a network is a function of one value, else a Sequential. Functions have the static
// members `input`, the sizes of a sample, and, for inputs that are characters, `vocabulary`.
template <class Net>
concept IsFunction = gpunet::nn::values_taken_by<Net>
== 1;

// Returns the graph of a network, without kernels.
template <class Net>
gpunet::Graph graph_of() {
  if constexpr (IsFunction<Net>) {
    Net net;
    return gpunet::nn::detail::graph_of_function(gpunet::nn::detail::Backend::none, net,
                                                 {Net::input});
  } else {
    return gpunet::nn::lower<void, void>(Net());
  }
}

// Returns a network with initial parameters.
template <class Net, class D>
gpunet::Network<D, float> make_network(D& device) {
  if constexpr (IsFunction<Net>)
    return {device, Net(), Net::input};
  else
    return {device, gpunet::nn::lower<D, float>(Net())};
}

// Returns inputs [batch, ...]: characters, or numbers from -1 to 1.
template <class Net, class D>
gpunet::Tensor<float, D> make_inputs(D& device, index_t batch) {
  const gpunet::Sizes sizes = graph_of<Net>().values[0].with_front(batch);
  if constexpr (requires { Net::vocabulary; })
    return spread_classes<float>(device, sizes, Net::vocabulary);
  else
    return spread_tensor(device, sizes, spread_value);
}

// Returns the sizes of the output of one sample.
template <class Net>
gpunet::Sizes output_sizes() {
  const gpunet::Graph graph = graph_of<Net>();
  return graph.values[static_cast<std::size_t>(graph.output)];
}

// Returns targets: classes [batch, ...] for outputs [batch, classes, ...], or numbers of the
// outputs' shape.
template <class Net, class Target, class D>
gpunet::Tensor<Target, D> make_targets(D& device, index_t batch) {
  const gpunet::Sizes output = output_sizes<Net>();
  if constexpr (std::is_same_v<Target, gpunet::label_t>)
    return spread_classes<Target>(device, output.tail().with_front(batch), output[0]);
  else
    return spread_tensor(device, output.with_front(batch), spread_square);
}

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
template <class Net, class Optimizer, class D = Host, class Loss = gpunet::nn::CrossEntropyLoss>
class Training : public Work {
  using Network = gpunet::Network<D, float>;
  using Optim = decltype(Optimizer::make(std::declval<Network&>()));
  using Target = gpunet::nn::TargetOf<Loss, D, float>;

 public:
  Training(D& device, index_t batch)
      : device_(device),
        inputs_(make_inputs<Net>(device, batch)),
        targets_(make_targets<Net, Target>(device, batch)) {}

  void start() override {
    gpunet::manual_seed(0);
    step_.reset();
    optimizer_.reset();
    network_.reset();
    network_.emplace(make_network<Net>(device_));
    optimizer_ = std::make_unique<Optim>(Optimizer::make(*network_));
    step_.emplace(*network_, Loss(), *optimizer_);
  }
  void run(index_t steps) override {
    for (index_t i = 0; i < steps - 1; ++i)
      (*step_)(inputs_, targets_);
    loss_ = (*step_)(inputs_, targets_).item();
  }
  double value() const override { return loss_; }

 protected:
  D& device_;
  gpunet::Tensor<float, D> inputs_;
  gpunet::Tensor<Target, D> targets_;
  std::optional<Network> network_;
  std::unique_ptr<Optim> optimizer_;
  std::optional<gpunet::train::Step<D, float, Loss, Optim>> step_;
  double loss_ = 0;
};

// Training steps by Step::repeat, a hundred per call, as in the Iris lesson, where the whole
// dataset is one batch.
template <class Net, class Optimizer, class D = Host>
class RepeatedTraining : public Training<Net, Optimizer, D> {
 public:
  using Training<Net, Optimizer, D>::Training;
  void run(index_t steps) override {
    constexpr index_t lesson = 100;
    for (; steps > 0; steps -= lesson)
      this->loss_ = this->step_->repeat(std::min(steps, lesson), this->inputs_, this->targets_)
                        .to_vector()
                        .back();
  }
};

// The network's outputs for a batch, which are read after each step.
template <class Net>
class Inference : public Work {
 public:
  Inference(Host& device, index_t batch)
      : device_(device),
        inputs_(make_inputs<Net>(device, batch)),
        output_(static_cast<std::size_t>(batch * output_sizes<Net>().numel())) {}

  void start() override {
    gpunet::manual_seed(0);
    network_.reset();
    network_.emplace(make_network<Net>(device_));
    network_->eval();
  }
  void run(index_t steps) override {
    const index_t features = static_cast<index_t>(output_.size()) / inputs_.sizes()[0];
    for (index_t i = 0; i < steps; ++i)
      (*network_)(inputs_).each_slice(
          [&](const gpunet::Slice& slice, index_t first, const float* y) {
            deinterleave(device_, slice, features, y, output_.data() + first * features);
          });
  }
  // Returns the sum of all outputs, each with a weight of its own.
  double value() const override {
    double sum = 0;
    for (std::size_t k = 0; k < output_.size(); ++k)
      sum += output_[k] * spread_square(static_cast<index_t>(k));
    return sum;
  }

 protected:
  Host& device_;
  gpunet::Tensor<float, Host> inputs_;
  std::vector<float> output_;

 private:
  std::optional<gpunet::Network<Host, float>> network_;
};

// The same by a Predictor that has folded the batch normalizations.
template <class Net>
class FoldedInference : public Inference<Net> {
 public:
  using Inference<Net>::Inference;

  void start() override {
    gpunet::manual_seed(0);
    predict_.reset();
    predict_.emplace(make_network<Net>(this->device_),
                     gpunet::PredictorOptions{.fold_batch_norm = true});
  }
  void run(index_t steps) override {
    const gpunet::Sizes sizes = predict_->output_sizes().with_front(this->inputs_.size(0));
    for (index_t i = 0; i < steps; ++i)
      predict_->into({this->output_.data(), sizes}, this->inputs_);
  }

 private:
  std::optional<gpunet::Predictor<Host, float>> predict_;
};

}  // namespace bench
