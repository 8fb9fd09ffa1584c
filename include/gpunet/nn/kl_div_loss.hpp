// The Kullback-Leibler divergence.
#pragma once

#include <cmath>

#include <gpunet/nn/elementwise_loss.hpp>

namespace gpunet::nn {

namespace detail {

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

}  // namespace detail

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

}  // namespace gpunet::nn

GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::nn::detail::Divergence);
