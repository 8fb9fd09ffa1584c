// Losses that compare outputs and targets number by number: classes, and functions of values, which
// return the loss of each sample. A new one needs two places: here, and a line in the list at the
// end.
#pragma once

#include <cmath>
#include <numbers>
#include <string_view>

#include <gpunet/functions/function.hpp>
#include <gpunet/nn/bce_loss.hpp>
#include <gpunet/nn/elementwise_loss.hpp>

namespace gpunet::nn {

namespace detail {

// (x - t)^2
struct SquaredError {
  static constexpr std::string_view name = "MSELoss";
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return (x - t) * (x - t);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return 2 * (x - t);
  }
};

// |x - t|
struct AbsoluteError {
  static constexpr std::string_view name = "L1Loss";
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return std::abs(x - t);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return static_cast<T>((x > t) - (x < t));
  }
};

// (x - t)^2 / (2 beta) where |x - t| < beta, else |x - t| - beta / 2
struct SmoothAbsoluteError {
  static constexpr std::string_view name = "SmoothL1Loss";
  double beta = 1;
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    const T error = std::abs(x - t), width = static_cast<T>(beta);
    return error < width ? error * error / (2 * width) : error - width / 2;
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
};

// (x - t)^2 / 2 where |x - t| <= delta, else delta (|x - t| - delta / 2)
struct HuberError {
  static constexpr std::string_view name = "HuberLoss";
  double delta = 1;
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    const T error = std::abs(x - t), width = static_cast<T>(delta);
    return error <= width ? error * error / 2 : width * (error - width / 2);
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
};

// t log t - t x, of the logarithm x of a probability; 0 log 0 is 0. Or exp(t) (t - x), of the
// logarithms of both.
struct Divergence {
  static constexpr std::string_view name = "KLDivLoss";
  bool log_target = false;
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return log_target ? std::exp(t) * (t - x) : (t == 0 ? T{} : t * std::log(t)) - t * x;
  }
  template <class T>
  GPUNET_FN T gradient(T, T t) const {
    return log_target ? -std::exp(t) : -t;
  }
  // NaN where t is 0, as in PyTorch.
  template <class T>
  GPUNET_FN T target_gradient(T x, T t) const {
    return log_target ? std::exp(t) * (t - x + 1) : std::log(t) + t / t - x;
  }
};

// x where t is 1, max(0, margin - x) where t is -1.
struct Hinge {
  static constexpr std::string_view name = "HingeEmbeddingLoss";
  double margin = 1;
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    const T rest = static_cast<T>(margin) - x;
    return t > 0 ? x : rest <= 0 ? T{} : rest;
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

// exp(x) - t x of the logarithm x of a rate, or x - t log(x + eps) of the rate itself; `full` adds
// Stirling's approximation of log(t!), t log t - t + log(2 pi t) / 2, where t is above 1.
struct PoissonError {
  static constexpr std::string_view name = "PoissonNLLLoss";
  bool log_input = true, full = false;
  double eps = 1e-8;
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    const T loss = log_input ? std::exp(x) - t * x : x - t * std::log(x + static_cast<T>(eps));
    const T half_log = T{0.5} * std::log(static_cast<T>(2 * std::numbers::pi) * t);
    return full && t > 1 ? loss + (t * std::log(t) - t + half_log) : loss;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return log_input ? std::exp(x) - t : T{1} - t / (x + static_cast<T>(eps));
  }
  template <class T>
  GPUNET_FN T target_gradient(T x, T t) const {
    const T gradient = log_input ? -x : -std::log(x + static_cast<T>(eps));
    return full && t > 1 ? gradient + (std::log(t) + T{0.5} / t) : gradient;
  }
};

}  // namespace detail

// The mean of (x - t)^2 over all numbers of the batch, as torch.nn.MSELoss: outputs and targets
// [batch, ...].
struct MSELoss : ElementwiseLoss<detail::SquaredError> {
  constexpr MSELoss(const LossOptions& options = {}) : ElementwiseLoss({}, options.reduction) {}
};

// The mean of |x - t| over all numbers of the batch, as torch.nn.L1Loss: outputs and targets
// [batch, ...].
struct L1Loss : ElementwiseLoss<detail::AbsoluteError> {
  constexpr L1Loss(const LossOptions& options = {}) : ElementwiseLoss({}, options.reduction) {}
};

// Options of SmoothL1Loss.
struct SmoothL1LossOptions {
  Reduction reduction = Reduction::mean;
  double beta = 1;  // the error where a parabola becomes a line; 0: L1Loss
};

// The mean of the smooth absolute error over all numbers of the batch, as torch.nn.SmoothL1Loss.
struct SmoothL1Loss : ElementwiseLoss<detail::SmoothAbsoluteError> {
  // Throws Error for a negative beta.
  constexpr SmoothL1Loss(const SmoothL1LossOptions& options = {})
      : ElementwiseLoss({options.beta}, options.reduction) {
    require(options.beta >= 0, "gpunet::nn::SmoothL1Loss: beta ", options.beta,
            " (want 0 or more)");
  }
};

// Options of HuberLoss.
struct HuberLossOptions {
  Reduction reduction = Reduction::mean;
  double delta = 1;  // the error where a parabola becomes a line
};

// The mean of Huber's error over all numbers of the batch, as torch.nn.HuberLoss.
struct HuberLoss : ElementwiseLoss<detail::HuberError> {
  // Throws Error unless delta is positive.
  constexpr HuberLoss(const HuberLossOptions& options = {})
      : ElementwiseLoss({options.delta}, options.reduction) {
    require(options.delta > 0, "gpunet::nn::HuberLoss: delta ", options.delta,
            " (want more than 0)");
  }
};

// Options of KLDivLoss.
struct KLDivLossOptions {
  // Reduction::batchmean is the divergence of the distributions.
  Reduction reduction = Reduction::mean;
  bool log_target = false;  // whether targets are logarithms of probabilities, too
};

// The Kullback-Leibler divergence of targets from outputs, as torch.nn.KLDivLoss: outputs are
// logarithms of probabilities, targets probabilities, both [batch, ...].
struct KLDivLoss : ElementwiseLoss<detail::Divergence> {
  constexpr KLDivLoss(const KLDivLossOptions& options = {})
      : ElementwiseLoss({options.log_target}, options.reduction) {}
};

// Options of HingeEmbeddingLoss.
struct HingeEmbeddingLossOptions {
  Reduction reduction = Reduction::mean;
  double margin = 1;  // dissimilar pairs with a larger distance cost nothing
};

// The mean over all numbers of the batch of x for similar pairs (target 1) and max(0, margin - x)
// for others (target -1), as torch.nn.HingeEmbeddingLoss: outputs are distances, both [batch, ...].
struct HingeEmbeddingLoss : ElementwiseLoss<detail::Hinge> {
  constexpr HingeEmbeddingLoss(const HingeEmbeddingLossOptions& options = {})
      : ElementwiseLoss({options.margin}, options.reduction) {}
};

// Options of PoissonNLLLoss.
struct PoissonNLLLossOptions {
  bool log_input = true;  // whether outputs are logarithms of rates, or rates
  bool full = false;      // whether Stirling's approximation of log(target!) is added
  double eps = 1e-8;      // added to rates, whose logarithm is taken
  Reduction reduction = Reduction::mean;
};

// The negative log-likelihood of counts with a Poisson distribution, as torch.nn.PoissonNLLLoss:
// targets are counts, outputs rates or their logarithms, both [batch, ...].
struct PoissonNLLLoss : ElementwiseLoss<detail::PoissonError> {
  constexpr PoissonNLLLoss(const PoissonNLLLossOptions& options = {})
      : ElementwiseLoss({options.log_input, options.full, options.eps}, options.reduction) {}
};

// Losses of each sample of values x and `target` of one shape, the means over its numbers.
// Definitions and options are PyTorch's.
template <FunctionArgument X>
X smooth_l1_loss(const X& x, const X& target, double beta = 1) {
  require(beta >= 0, "gpunet::nn::smooth_l1_loss: beta ", beta, " (want 0 or more)");
  if (beta == 0) return l1_loss(x, target);
  return mean(loss_of_values("smooth_l1_loss", x, target, detail::SmoothAbsoluteError{beta}));
}
template <FunctionArgument X>
X huber_loss(const X& x, const X& target, double delta = 1) {
  require(delta > 0, "gpunet::nn::huber_loss: delta ", delta, " (want more than 0)");
  return mean(loss_of_values("huber_loss", x, target, detail::HuberError{delta}));
}
template <FunctionArgument X>
X binary_cross_entropy(const X& x, const X& target) {
  return mean(loss_of_values("binary_cross_entropy", x, target, detail::BinaryCrossEntropy{}));
}
// target is 1 or -1.
template <FunctionArgument X>
X hinge_embedding_loss(const X& x, const X& target, double margin = 1) {
  return mean(loss_of_values("hinge_embedding_loss", x, target, detail::Hinge{margin}));
}
template <FunctionArgument X>
X poisson_nll_loss(const X& x, const X& target, const PoissonNLLLossOptions& options = {}) {
  return mean(loss_of_values("poisson_nll_loss", x, target,
                             detail::PoissonError{options.log_input, options.full, options.eps}));
}
// The divergence of log-probabilities x from probabilities `target`: the sum over a sample, so that
// the mean over the batch is PyTorch's reduction batchmean.
template <FunctionArgument X>
X kl_div(const X& x, const X& target) {
  return sum(loss_of_values("kl_div", x, target, detail::Divergence{}));
}

}  // namespace gpunet::nn

// The functors of losses; the first list has functors with the gradient of the target.
// clang-format off
#define GPUNET_LOSSES_OF_PAIRS(X) \
  X(SmoothAbsoluteError) X(HuberError) X(BinaryCrossEntropy) X(Divergence) X(Hinge) X(PoissonError)
#define GPUNET_ELEMENTWISE_LOSSES(X) \
  GPUNET_LOSSES_OF_PAIRS(X) X(AbsoluteError) X(SquaredError) X(BinaryCrossEntropyOfLogits) \
  X(BinaryCrossEntropyOfClasses)
// clang-format on
#define GPUNET_EXTERN_LOSS(Name) GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::Name);
GPUNET_ELEMENTWISE_LOSSES(GPUNET_EXTERN_LOSS)
#undef GPUNET_EXTERN_LOSS
