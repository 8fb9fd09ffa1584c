// The binary cross-entropy losses.
#pragma once

#include <cmath>

#include <gpunet/nn/elementwise_loss.hpp>

namespace gpunet::nn {

namespace detail {

// -t log x - (1 - t) log(1 - x); logarithms are at least -100, as in PyTorch.
struct BinaryCrossEntropy {
  static constexpr std::string_view name = "BCELoss";
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return (t - 1) * limited(std::log1p(-x)) - t * limited(std::log(x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    const T least = static_cast<T>(1e-12), product = (1 - x) * x;
    return (x - t) / (product > least ? product : least);
  }
  template <class T>
  static const char* check(T t) {
    return t >= 0 && t <= 1 ? nullptr : "is not a probability (want 0 to 1), give the probability of the class";
  }

 private:
  template <class T>
  GPUNET_FN static T limited(T logarithm) {
    return logarithm < -100 ? T{-100} : logarithm;  // NaN stays
  }
};

// -p t log s - (1 - t) log(1 - s) with s = sigmoid(x) and the weight p of positive targets, without overflow.
struct BinaryCrossEntropyOfLogits {
  static constexpr std::string_view name = "BCEWithLogitsLoss";
  double pos_weight = 1;
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    const T softplus = std::log1p(std::exp(-std::abs(x))) + (x < 0 ? -x : T{});  // log(1 + exp(-x)) = -log s
    return (1 - t) * x + weight(t) * softplus;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    const T power = std::exp(-std::abs(x)), rest = (x < 0 ? T{1} : power) / (1 + power);  // 1 - s
    return 1 - t - weight(t) * rest;
  }

 private:
  template <class T>
  GPUNET_FN T weight(T t) const {
    return 1 + (static_cast<T>(pos_weight) - 1) * t;
  }
};

}  // namespace detail

// The mean of the binary cross-entropy over all numbers of the batch, as torch.nn.BCELoss: outputs are probabilities, targets
// 0 to 1, both [batch, ...].
struct BCELoss : ElementwiseLoss<detail::BinaryCrossEntropy> {
  constexpr BCELoss(const LossOptions& options = {}) : ElementwiseLoss({}, options.reduction) {}
};

// Options of BCEWithLogitsLoss.
struct BCEWithLogitsLossOptions {
  Reduction reduction = Reduction::mean;
  double pos_weight = 1;  // of positive targets: more than 1 for more of them found, less for fewer found wrongly
};

// The same of the sigmoid of the outputs, as torch.nn.BCEWithLogitsLoss: outputs are logits.
struct BCEWithLogitsLoss : ElementwiseLoss<detail::BinaryCrossEntropyOfLogits> {
  // Throws Error for a negative weight.
  constexpr BCEWithLogitsLoss(const BCEWithLogitsLossOptions& options = {})
      : ElementwiseLoss({options.pos_weight}, options.reduction) {
    require(options.pos_weight >= 0, "gpunet::nn::BCEWithLogitsLoss: pos_weight ", options.pos_weight,
            " (want 0 or more)");
  }
};

}  // namespace gpunet::nn

GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::BinaryCrossEntropy);
GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::BinaryCrossEntropyOfLogits);
