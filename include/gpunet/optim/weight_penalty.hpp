// L1 and L2 weight penalties, added between backward() and step().
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/model/network.hpp>

namespace gpunet::nn::utils {

// The penalty of a weight w: l1 |w| + l2 w^2 / 2.
struct WeightPenaltyOptions {
  double l1 = 0, l2 = 0;
};

// Adds the gradients of a weight penalty to a model's, as PyTorch computes them for
//   loss + sum(l1 * w.abs().sum() + l2 / 2 * w.square().sum()
//              for w in net.parameters() if w.dim() > 1)
// l1 drives small weights to 0, l2 keeps all weights small. Parameters with one dimension (biases,
// also BatchNorm's weights) have no penalty; the optimizers' weight_decay is an l2 penalty on all
// parameters. Does nothing without gradients (no backward pass since zero_grad()). Throws Error for
// a penalty that is negative or over 1e30.
template <class D, class T>
void add_weight_penalty_(Network<D, T>& model, const WeightPenaltyOptions& options);

#define GPUNET_WEIGHT_PENALTY(D, T) \
  void add_weight_penalty_(Network<D, T>&, const WeightPenaltyOptions&)
GPUNET_EXTERN_TEMPLATES(GPUNET_WEIGHT_PENALTY)

}  // namespace gpunet::nn::utils

#if !GPUNET_COMPILED
#include <gpunet/optim/weight_penalty.ipp>
#endif
