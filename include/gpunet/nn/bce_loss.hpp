// The binary cross-entropy losses.
#pragma once

#include <utility>
#include <vector>

#include <gpunet/nn/elementwise_loss.hpp>

namespace gpunet::nn {

// The mean of the binary cross-entropy over all numbers of the batch, as torch.nn.BCELoss: outputs
// are probabilities, targets 0 to 1, both [batch, ...].
struct BCELoss : ElementwiseLoss<functions::BinaryCrossEntropy> {
  constexpr BCELoss(const LossOptions& options = {}) : ElementwiseLoss({}, options.reduction) {}
};

// The same of the sigmoid of the outputs, as torch.nn.BCEWithLogitsLoss: outputs are logits,
// [batch, ...]. Weights of classes are for outputs [batch, classes, ...], as PyTorch's pos_weight
// of shape [classes, 1, ...].
class BCEWithLogitsLoss : public LossFunction<BCEWithLogitsLoss> {
 public:
  using target_type = void;

  // Throws Error for a negative weight.
  BCEWithLogitsLoss(BCEWithLogitsLossOptions options = {}) : options_(std::move(options)) {
    options_.pos_weight.check("nn::BCEWithLogitsLoss");
  }

  // Targets have the shape of the outputs; the weights of the classes are the constants.
  LossTraits traits(const Sizes& output) const {
    return {
        .target = output, .reduction = options_.reduction, .constants = weights(), .each = output};
  }
  // Outputs of every shape are allowed,
  template <class In>
  static constexpr void check_shape(In) {}
  // with a class for each weight. Throws Error.
  void check_sizes(const Sizes& output) const {
    if (weights().size() > 1)
      options_.pos_weight.check_classes("nn::BCEWithLogitsLoss", output.rank() == 0 ? 0 : output[0],
                                        output);
  }
  // All targets are allowed, as in PyTorch.
  template <class D, class T>
  void check(D&, const View<const T, D>&, index_t) const {}

  // Computes losses and gradients of a slice, see loss.hpp.
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, T>& pass) const {
    ElementwiseLossArgs<T> args = detail::elementwise_args(pass, options_.reduction);
    if (weights().size() == 1) {
      elementwise_loss(device, functions::BinaryCrossEntropyOfLogits{weights()[0]}, args);
    } else {
      args.weights = {pass.constants, pass.features * pass.places / pass.channels, pass.places};
      elementwise_loss(device, functions::BinaryCrossEntropyOfClasses{}, args);
    }
  }

 private:
  const std::vector<double>& weights() const { return options_.pos_weight.of_class(); }

  BCEWithLogitsLossOptions options_;
};

}  // namespace gpunet::nn
