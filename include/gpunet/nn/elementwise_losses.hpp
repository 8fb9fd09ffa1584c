// Losses that compare outputs and targets number by number: classes, and functions of values, which
// return the loss of each sample. Their elements are in functions/losses.hpp.
#pragma once

#include <concepts>

#include <gpunet/nn/bce_loss.hpp>
#include <gpunet/nn/elementwise_loss.hpp>

namespace gpunet::nn {

// The mean of (x - t)^2 over all numbers of the batch, as torch.nn.MSELoss: outputs and targets
// [batch, ...].
struct MSELoss : ElementwiseLoss<functions::SquaredError> {
  constexpr MSELoss(const LossOptions& options = {}) : ElementwiseLoss({}, options.reduction) {}
};

// The mean of |x - t| over all numbers of the batch, as torch.nn.L1Loss: outputs and targets
// [batch, ...].
struct L1Loss : ElementwiseLoss<functions::AbsoluteError> {
  constexpr L1Loss(const LossOptions& options = {}) : ElementwiseLoss({}, options.reduction) {}
};

// The mean of the smooth absolute error over all numbers of the batch, as torch.nn.SmoothL1Loss.
struct SmoothL1Loss : ElementwiseLoss<functions::SmoothAbsoluteError> {
  // Throws Error for a negative beta.
  constexpr SmoothL1Loss(const SmoothL1LossOptions& options = {})
      : ElementwiseLoss({options.beta}, options.reduction) {
    functions::SmoothAbsoluteError{options.beta}.check_option("nn::SmoothL1Loss");
  }
};

// The mean of Huber's error over all numbers of the batch, as torch.nn.HuberLoss.
struct HuberLoss : ElementwiseLoss<functions::HuberError> {
  // Throws Error unless delta is positive.
  constexpr HuberLoss(const HuberLossOptions& options = {})
      : ElementwiseLoss({options.delta}, options.reduction) {
    functions::HuberError{options.delta}.check_option("nn::HuberLoss");
  }
};

// The Kullback-Leibler divergence of targets from outputs, as torch.nn.KLDivLoss: outputs are
// logarithms of probabilities, targets probabilities, both [batch, ...].
struct KLDivLoss : ElementwiseLoss<functions::Divergence> {
  constexpr KLDivLoss(const KLDivLossOptions& options = {})
      : ElementwiseLoss({options.log_target}, options.reduction) {}
};

// The mean over all numbers of the batch of x for similar pairs (target 1) and max(0, margin - x)
// for others (target -1), as torch.nn.HingeEmbeddingLoss: outputs are distances, both [batch, ...].
struct HingeEmbeddingLoss : ElementwiseLoss<functions::Hinge> {
  constexpr HingeEmbeddingLoss(const HingeEmbeddingLossOptions& options = {})
      : ElementwiseLoss({options.margin}, options.reduction) {}
};

// The negative log-likelihood of counts with a Poisson distribution, as torch.nn.PoissonNLLLoss:
// targets are counts, outputs rates or their logarithms, both [batch, ...].
struct PoissonNLLLoss : ElementwiseLoss<functions::PoissonError> {
  constexpr PoissonNLLLoss(const PoissonNLLLossOptions& options = {})
      : ElementwiseLoss({options.log_input, options.full, options.eps}, options.reduction) {}
};

inline namespace GPUNET_BACKENDS {

class Value;

// Losses of each sample of values x and `target` of one shape, the means over its numbers. The mean
// over the batch is taken where the network is trained: by mean(net(x, t)) or nn::OutputLoss.
// Definitions and options are PyTorch's. The functions of tensors are in tensor/losses.hpp.
template <std::same_as<Value> X>
X mse_loss(const X& x, const X& target) {
  return mean(loss_of_values("mse_loss", x, target, functions::SquaredError{}));
}
template <std::same_as<Value> X>
X l1_loss(const X& x, const X& target) {
  return mean(loss_of_values("l1_loss", x, target, functions::AbsoluteError{}));
}
template <std::same_as<Value> X>
X smooth_l1_loss(const X& x, const X& target, double beta = 1) {
  const functions::SmoothAbsoluteError error{beta};
  error.check_option("nn::smooth_l1_loss");
  if (beta == 0) return l1_loss(x, target);
  return mean(loss_of_values("smooth_l1_loss", x, target, error));
}
template <std::same_as<Value> X>
X huber_loss(const X& x, const X& target, double delta = 1) {
  const functions::HuberError error{delta};
  error.check_option("nn::huber_loss");
  return mean(loss_of_values("huber_loss", x, target, error));
}
template <std::same_as<Value> X>
X binary_cross_entropy(const X& x, const X& target) {
  return mean(loss_of_values("binary_cross_entropy", x, target, functions::BinaryCrossEntropy{}));
}
template <std::same_as<Value> X>
X binary_cross_entropy_with_logits(const X& x, const X& target, double pos_weight = 1) {
  PosWeight(pos_weight).check("nn::binary_cross_entropy_with_logits");
  return mean(loss_of_values("binary_cross_entropy_with_logits", x, target,
                             functions::BinaryCrossEntropyOfLogits{pos_weight}));
}
// target is 1 or -1.
template <std::same_as<Value> X>
X hinge_embedding_loss(const X& x, const X& target, double margin = 1) {
  return mean(loss_of_values("hinge_embedding_loss", x, target, functions::Hinge{margin}));
}
template <std::same_as<Value> X>
X poisson_nll_loss(const X& x, const X& target, const PoissonNLLLossOptions& options = {}) {
  return mean(
      loss_of_values("poisson_nll_loss", x, target,
                     functions::PoissonError{options.log_input, options.full, options.eps}));
}
// The divergence of log-probabilities x from probabilities `target`: the sum over a sample, so that
// the mean over the batch is PyTorch's reduction batchmean.
template <std::same_as<Value> X>
X kl_div(const X& x, const X& target) {
  return sum(loss_of_values("kl_div", x, target, functions::Divergence{}));
}

}  // namespace GPUNET_BACKENDS

}  // namespace gpunet::nn

#define GPUNET_EXTERN_LOSS(Name) GPUNET_EXTERN_ELEMENTWISE_LOSS(gpunet::functions::Name);
GPUNET_ELEMENTWISE_LOSSES(GPUNET_EXTERN_LOSS)
#undef GPUNET_EXTERN_LOSS
