// Losses of two numbers, an output x and a target t, and their options. A loss is a struct with
//
//   name                   of its class, for messages
//   value(x, t)            the loss
//   gradient(x, t)         its derivative by x
//   target_gradient(x, t)  its derivative by t, where values of networks need it
//   value(x, t, option)    static: the loss with its one member as a number; without members,
//                          value(x, t) is static
//
// Classes, functions of values and functions of tensors use the same struct. A new one needs its
// struct and its line in a list at the end.
#pragma once

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/device/functor_math.hpp>

namespace gpunet::nn {

// How the losses of a batch become one number, as in PyTorch.
enum class Reduction {
  mean,       // over the batch, and over the numbers of an output where the loss is one of them
  sum,        // over both
  batchmean,  // the sum over the numbers, the mean over the batch
  none        // not at all: for functions of tensors and criterion.each(output, targets)
};

// Options that most losses have.
struct LossOptions {
  Reduction reduction = Reduction::mean;
};

// Options of SmoothL1Loss.
struct SmoothL1LossOptions {
  Reduction reduction = Reduction::mean;
  double beta = 1;  // the error where a parabola becomes a line; 0: L1Loss
};

// Options of HuberLoss.
struct HuberLossOptions {
  Reduction reduction = Reduction::mean;
  double delta = 1;  // the error where a parabola becomes a line
};

// Options of KLDivLoss.
struct KLDivLossOptions {
  // Reduction::batchmean is the divergence of the distributions.
  Reduction reduction = Reduction::mean;
  bool log_target = false;  // whether targets are logarithms of probabilities, too
};

// Options of HingeEmbeddingLoss.
struct HingeEmbeddingLossOptions {
  Reduction reduction = Reduction::mean;
  double margin = 1;  // dissimilar pairs with a larger distance cost nothing
};

// Options of PoissonNLLLoss.
struct PoissonNLLLossOptions {
  bool log_input = true;  // whether outputs are logarithms of rates, or rates
  bool full = false;      // whether Stirling's approximation of log(target!) is added
  double eps = 1e-8;      // added to rates, whose logarithm is taken
  Reduction reduction = Reduction::mean;
};

// The weight of positive targets: of all classes 3, or of each class {1, 2.5, 4}.
class PosWeight {
 public:
  PosWeight(double weight) : of_class_{weight} {}
  PosWeight(std::initializer_list<double> weights) : of_class_(weights) {}
  PosWeight(std::vector<double> weights) : of_class_(std::move(weights)) {}

  // Returns the weights of the classes, or that of all.
  const std::vector<double>& of_class() const { return of_class_; }
  // Throws Error for a negative weight, or none.
  void check(std::string_view function) const {
    for (const double weight : of_class_)
      require(weight >= 0, "gpunet::", function, ": pos_weight ", weight, " (want 0 or more)");
    require(!of_class_.empty(), "gpunet::", function,
            ": an empty pos_weight (want one weight, or one for each class)");
  }
  // Throws Error unless there is one weight, or one for each of the classes of outputs.
  void check_classes(std::string_view function, index_t classes, const Sizes& output) const {
    require(of_class_.size() == 1 || std::ssize(of_class_) == classes, "gpunet::", function,
            ": pos_weight has ", of_class_.size(), " numbers for outputs of ", to_string(output),
            " (want 1, or ", classes, ", one for each class)");
  }

 private:
  std::vector<double> of_class_;
};

// Options of BCEWithLogitsLoss.
struct BCEWithLogitsLossOptions {
  Reduction reduction = Reduction::mean;
  PosWeight pos_weight =
      1;  // of positive targets: more than 1 for more of them found, less for fewer found wrongly
};

// Options of CrossEntropyLoss and NLLLoss. label_smoothing is for logits only.
struct CrossEntropyLossOptions {
  Reduction reduction = Reduction::mean;
  std::vector<double> weight = {};  // of each class; the mean is weighted. Empty: 1
  // Targets with this label cost nothing and do not count; in PyTorch -100.
  std::optional<index_t> ignore_index = {};
  double label_smoothing = 0;  // the share of a target that all classes get, 0 to 1
};

}  // namespace gpunet::nn

namespace gpunet::functions {

// (x - t)^2
struct SquaredError {
  static constexpr std::string_view name = "MSELoss";
  template <class T>
  GPUNET_FN static T value(T x, T t) {
    return (x - t) * (x - t);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return 2 * (x - t);
  }
  template <class T>
  GPUNET_FN T target_gradient(T x, T t) const {
    return -gradient(x, t);
  }
};

// |x - t|
struct AbsoluteError {
  static constexpr std::string_view name = "L1Loss";
  template <class T>
  GPUNET_FN static T value(T x, T t) {
    return std::abs(x - t);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return static_cast<T>((x > t) - (x < t));
  }
  template <class T>
  GPUNET_FN T target_gradient(T x, T t) const {
    return -gradient(x, t);
  }
};

// (x - t)^2 / (2 beta) where |x - t| < beta, else |x - t| - beta / 2
struct SmoothAbsoluteError {
  static constexpr std::string_view name = "SmoothL1Loss";
  double beta = 1;
  template <class T>
  GPUNET_FN static T value(T x, T t, T width) {
    const T error = std::abs(x - t);
    return error < width ? error * error / (2 * width) : error - width / 2;
  }
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return value(x, t, static_cast<T>(beta));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    const T error = x - t, width = static_cast<T>(beta);
    // NaN stays.
    return std::abs(error) >= width ? static_cast<T>((x > t) - (x < t)) : error / width;
  }
  template <class T>
  GPUNET_FN T target_gradient(T x, T t) const {
    return -gradient(x, t);
  }
  // Throws Error for a negative beta.
  constexpr void check_option(std::string_view function) const {
    require(beta >= 0, "gpunet::", function, ": beta ", beta, " (want 0 or more)");
  }
};

// (x - t)^2 / 2 where |x - t| <= delta, else delta (|x - t| - delta / 2)
struct HuberError {
  static constexpr std::string_view name = "HuberLoss";
  double delta = 1;
  template <class T>
  GPUNET_FN static T value(T x, T t, T width) {
    const T error = std::abs(x - t);
    return error <= width ? error * error / 2 : width * (error - width / 2);
  }
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return value(x, t, static_cast<T>(delta));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    const T error = x - t, width = static_cast<T>(delta);
    return error < -width ? -width : error > width ? width : error;
  }
  template <class T>
  GPUNET_FN T target_gradient(T x, T t) const {
    return -gradient(x, t);
  }
  // Throws Error unless delta is positive.
  constexpr void check_option(std::string_view function) const {
    require(delta > 0, "gpunet::", function, ": delta ", delta, " (want more than 0)");
  }
};

// t log t - t x, of the logarithm x of a probability; 0 log 0 is 0. Or exp(t) (t - x), of the
// logarithms of both.
struct Divergence {
  static constexpr std::string_view name = "KLDivLoss";
  bool log_target = false;
  template <class T>
  GPUNET_FN static T value(T x, T t, T is_logarithm) {
    return is_logarithm != 0 ? math::exp(t) * (t - x) : (t == 0 ? T{} : t * math::log(t)) - t * x;
  }
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return value(x, t, static_cast<T>(log_target));
  }
  template <class T>
  GPUNET_FN T gradient(T, T t) const {
    return log_target ? -math::exp(t) : -t;
  }
  // NaN where t is 0, as in PyTorch.
  template <class T>
  GPUNET_FN T target_gradient(T x, T t) const {
    return log_target ? math::exp(t) * (t - x + 1) : math::log(t) + t / t - x;
  }
};

// x where t is 1, max(0, margin - x) where t is -1.
struct Hinge {
  static constexpr std::string_view name = "HingeEmbeddingLoss";
  double margin = 1;
  template <class T>
  GPUNET_FN static T value(T x, T t, T farthest) {
    const T rest = farthest - x;
    return t > 0 ? x : rest <= 0 ? T{} : rest;
  }
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return value(x, t, static_cast<T>(margin));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return t > 0 ? T{1} : static_cast<T>(margin) - x > 0 ? T{-1} : T{};
  }
  template <class T>
  GPUNET_FN T target_gradient(T, T) const {
    return T{};
  }
  template <class T>
  static const char* check(T t) {
    return t == 1 || t == -1 ? nullptr
                             : "is neither 1 nor -1, give 1 for similar pairs and -1 for others";
  }
};

// exp(x) - t x, of the logarithm x of a rate.
struct PoissonOfLogarithm {
  template <class T>
  GPUNET_FN static T value(T x, T t) {
    return math::exp(x) - t * x;
  }
};

// x - t log(x + eps), of a rate x.
struct PoissonOfRate {
  double eps = 1e-8;
  template <class T>
  GPUNET_FN static T value(T x, T t, T summand) {
    return x - t * math::log(x + summand);
  }
};

// Stirling's approximation of log(t!), t log t - t + log(2 pi t) / 2, where t is above 1, else 0.
struct LogFactorial {
  template <class T>
  GPUNET_FN static T value(T t) {
    const T half_log = T{0.5} * math::log(static_cast<T>(2 * std::numbers::pi) * t);
    return t > 1 ? t * math::log(t) - t + half_log : T{};
  }
};

// The negative log-likelihood of a count t, of the logarithm x of a rate, or of the rate; `full`
// adds the logarithm of t!.
struct PoissonError {
  static constexpr std::string_view name = "PoissonNLLLoss";
  bool log_input = true, full = false;
  double eps = 1e-8;
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    const T loss = log_input ? PoissonOfLogarithm::value(x, t)
                             : PoissonOfRate::value(x, t, static_cast<T>(eps));
    return full && t > 1 ? loss + LogFactorial::value(t) : loss;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return log_input ? math::exp(x) - t : T{1} - t / (x + static_cast<T>(eps));
  }
  template <class T>
  GPUNET_FN T target_gradient(T x, T t) const {
    const T gradient = log_input ? -x : -math::log(x + static_cast<T>(eps));
    return full && t > 1 ? gradient + (math::log(t) + T{0.5} / t) : gradient;
  }
};

// -t log x - (1 - t) log(1 - x); logarithms are at least -100, as in PyTorch.
struct BinaryCrossEntropy {
  static constexpr std::string_view name = "BCELoss";
  template <class T>
  GPUNET_FN static T value(T x, T t) {
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
  GPUNET_FN T target_gradient(T x, T) const {
    const T p = static_cast<T>(pos_weight);
    return p == 1 ? -x : (p - 1) * minus_log_sigmoid(x) - x;  // not NaN of an infinite x
  }

  template <class T>
  GPUNET_FN static T value(T x, T t, T p) {
    return (1 - t) * x + weight(t, p) * minus_log_sigmoid(x);
  }
  template <class T>
  GPUNET_FN static T gradient(T x, T t, T p) {
    const T power = math::exp(-std::abs(x));
    const T rest = math::select(x < 0, T{1}, power) / (1 + power);  // 1 - s
    return 1 - t - weight(t, p) * rest;
  }

 private:
  template <class T>
  GPUNET_FN static T weight(T t, T p) {
    return math::select(p == 1, p, 1 + (p - 1) * t);  // not NaN of an infinite t
  }
  template <class T>
  GPUNET_FN static T minus_log_sigmoid(T x) {
    return math::log1p(math::exp(-std::abs(x))) + math::select(x < 0, -x, T{});
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

// Throws Error for weights of classes that are negative, or a smoothing outside 0 to 1.
inline void check_class_options(std::string_view function, std::span<const double> weight,
                                double smoothing) {
  for (std::size_t k = 0; k < weight.size(); ++k)
    require(weight[k] >= 0, "gpunet::", function, ": the weight ", weight[k], " of class ", k,
            " (want 0 or more)");
  require(smoothing >= 0 && smoothing <= 1, "gpunet::", function, ": label_smoothing ", smoothing,
          " (want 0 to 1)");
}

}  // namespace gpunet::functions

// Losses with elements that tensors compute: without members, and with one.
// clang-format off
#define GPUNET_ERRORS(X) \
  X(functions, SquaredError) X(functions, AbsoluteError) X(functions, BinaryCrossEntropy) \
  X(functions, PoissonOfLogarithm)
#define GPUNET_ERRORS_OF_1(X) \
  X(functions, SmoothAbsoluteError) X(functions, HuberError) X(functions, Divergence) \
  X(functions, Hinge) X(functions, PoissonOfRate) X(functions, BinaryCrossEntropyOfLogits)
// Losses of the classes in nn/; the first list has the gradient of the target, for values.
#define GPUNET_LOSSES_OF_PAIRS(X) \
  X(SquaredError) X(AbsoluteError) X(SmoothAbsoluteError) X(HuberError) X(BinaryCrossEntropy) \
  X(BinaryCrossEntropyOfLogits) X(Divergence) X(Hinge) X(PoissonError)
#define GPUNET_ELEMENTWISE_LOSSES(X) \
  GPUNET_LOSSES_OF_PAIRS(X) X(BinaryCrossEntropyOfClasses)
// clang-format on
