// Losses of the absolute error: L1, smooth L1, Huber.
#pragma once

#include <cmath>

#include <gpunet/nn/elementwise_loss.hpp>

namespace gpunet::nn {

namespace detail {

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

}  // namespace detail

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

}  // namespace gpunet::nn

GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::AbsoluteError);
GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::SmoothAbsoluteError);
GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::HuberError);
