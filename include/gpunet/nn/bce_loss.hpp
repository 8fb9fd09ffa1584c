// The binary cross-entropy losses.
#pragma once

#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include <gpunet/device/functor_math.hpp>
#include <gpunet/nn/elementwise_loss.hpp>

namespace gpunet::nn {

namespace detail {

// -t log x - (1 - t) log(1 - x); logarithms are at least -100, as in PyTorch.
struct BinaryCrossEntropy {
  static constexpr std::string_view name = "BCELoss";
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return (t - 1) * limited(math::log1p(-x)) - t * limited(math::log(x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    const T least = static_cast<T>(1e-12), product = (1 - x) * x;
    return (x - t) / (product > least ? product : least);
  }
  template <class T>
  GPUNET_FN T target_gradient(T x, T) const {
    return math::log1p(-x) - math::log(x);
  }
  template <class T>
  static const char* check(T t) {
    return t >= 0 && t <= 1
               ? nullptr
               : "is not a probability (want 0 to 1), give the probability of the class";
  }
  template <class T>
  static const char* check_output(T x) {  // NaN shows in the loss
    return x < 0 || x > 1 ? "is not a probability (want 0 to 1), let the network end in Sigmoid, "
                            "or use BCEWithLogitsLoss"
                          : nullptr;
  }

 private:
  template <class T>
  GPUNET_FN static T limited(T logarithm) {
    return logarithm < -100 ? T{-100} : logarithm;  // NaN stays
  }
};

// -p t log s - (1 - t) log(1 - s) with s = sigmoid(x) and the weight p of positive targets, without
// overflow.
struct BinaryCrossEntropyOfLogits {
  double pos_weight = 1;
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return value(x, t, static_cast<T>(pos_weight));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return gradient(x, t, static_cast<T>(pos_weight));
  }

  template <class T>
  GPUNET_FN static T value(T x, T t, T p) {
    // log(1 + exp(-x)) = -log s.
    const T softplus = std::log1p(std::exp(-std::abs(x))) + (x < 0 ? -x : T{});
    return (1 - t) * x + weight(t, p) * softplus;
  }
  template <class T>
  GPUNET_FN static T gradient(T x, T t, T p) {
    const T power = std::exp(-std::abs(x)), rest = (x < 0 ? T{1} : power) / (1 + power);  // 1 - s
    return 1 - t - weight(t, p) * rest;
  }

 private:
  template <class T>
  GPUNET_FN static T weight(T t, T p) {
    return 1 + (p - 1) * t;
  }
};

// The same with a weight p of each class.
struct BinaryCrossEntropyOfClasses {
  static constexpr bool has_class_weights = true;
  template <class T>
  GPUNET_FN T value(T x, T t, T p) const {
    return BinaryCrossEntropyOfLogits::value(x, t, p);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t, T p) const {
    return BinaryCrossEntropyOfLogits::gradient(x, t, p);
  }
};

}  // namespace detail

// The mean of the binary cross-entropy over all numbers of the batch, as torch.nn.BCELoss: outputs
// are probabilities, targets 0 to 1, both [batch, ...].
struct BCELoss : ElementwiseLoss<detail::BinaryCrossEntropy> {
  constexpr BCELoss(const LossOptions& options = {}) : ElementwiseLoss({}, options.reduction) {}
};

// The weight of positive targets: of all classes 3, or of each class {1, 2.5, 4}.
class PosWeight {
 public:
  PosWeight(double weight) : of_class_{weight} {}
  PosWeight(std::initializer_list<double> weights) : of_class_(weights) {}
  PosWeight(std::vector<double> weights) : of_class_(std::move(weights)) {}

  // Returns the weights of the classes, or that of all.
  const std::vector<double>& of_class() const { return of_class_; }

 private:
  std::vector<double> of_class_;
};

// Options of BCEWithLogitsLoss.
struct BCEWithLogitsLossOptions {
  Reduction reduction = Reduction::mean;
  PosWeight pos_weight =
      1;  // of positive targets: more than 1 for more of them found, less for fewer found wrongly
};

// The same of the sigmoid of the outputs, as torch.nn.BCEWithLogitsLoss: outputs are logits,
// [batch, ...]. Weights of classes are for outputs [batch, classes, ...], as PyTorch's pos_weight
// of shape [classes, 1, ...].
class BCEWithLogitsLoss : public LossFunction<BCEWithLogitsLoss> {
 public:
  using target_type = void;

  // Throws Error for a negative weight.
  BCEWithLogitsLoss(BCEWithLogitsLossOptions options = {}) : options_(std::move(options)) {
    for (const double weight : weights())
      require(weight >= 0, "gpunet::nn::BCEWithLogitsLoss: pos_weight ", weight,
              " (want 0 or more)");
    require(!weights().empty(),
            "gpunet::nn::BCEWithLogitsLoss: an empty pos_weight (want one weight, or one for each "
            "class)");
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
    if (weights().size() == 1) return;
    const index_t classes = output.rank() == 0 ? 0 : output[0];
    require(std::ssize(weights()) == classes, "gpunet::nn::BCEWithLogitsLoss: pos_weight has ",
            weights().size(), " numbers for outputs of ", to_string(output), " (want 1, or ",
            classes, ", one for each class)");
  }
  // All targets are allowed, as in PyTorch.
  template <class D, class T>
  void check(D&, const View<const T, D>&, index_t) const {}

  // Computes losses and gradients of a slice, see loss.hpp.
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, T>& pass) const {
    ElementwiseLossArgs<T> args = detail::elementwise_args(pass, options_.reduction);
    if (weights().size() == 1) {
      elementwise_loss(device, detail::BinaryCrossEntropyOfLogits{weights()[0]}, args);
    } else {
      args.weights = {pass.constants, pass.features * pass.places / pass.channels, pass.places};
      elementwise_loss(device, detail::BinaryCrossEntropyOfClasses{}, args);
    }
  }

 private:
  const std::vector<double>& weights() const { return options_.pos_weight.of_class(); }

  BCEWithLogitsLossOptions options_;
};

}  // namespace gpunet::nn
