// The mean squared error.
#pragma once

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

}  // namespace detail

// The mean of (x - t)^2 over all numbers of the batch, as torch.nn.MSELoss: outputs and targets
// [batch, ...].
struct MSELoss : ElementwiseLoss<detail::SquaredError> {
  constexpr MSELoss(const LossOptions& options = {}) : ElementwiseLoss({}, options.reduction) {}
};

}  // namespace gpunet::nn

GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::SquaredError);
