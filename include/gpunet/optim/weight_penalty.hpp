// L1 and L2 weight penalties, added between backward() and step().
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet::nn::utils {

// g[i] += gradient of l1 |w[i]| + l2 w[i]^2 / 2. The gradient of |w| at 0 is 0, as in PyTorch. One index = one weight.
template <class T>
struct AddPenaltyGradient {
  T l1, l2;
  const T* w;
  T* g;
  GPUNET_FN void operator()(index_t i) const {
    const T sign = static_cast<T>(w[i] > T{}) - static_cast<T>(w[i] < T{});
    g[i] += l1 * sign + l2 * w[i];
  }
};

// The penalty of a weight w: l1 |w| + l2 w^2 / 2.
struct WeightPenaltyOptions {
  double l1 = 0, l2 = 0;
};

// Adds the gradients of a weight penalty to those of a model, as PyTorch computes them for
//   loss + sum(l1 * w.abs().sum() + l2 / 2 * w.square().sum() for w in net.parameters() if w.dim() > 1)
// l1 drives small weights to 0, l2 keeps all weights small. Parameters with one dimension (biases, those of BatchNorm)
// have no penalty; the optimizers' weight_decay is an l2 penalty on all parameters. Does nothing without gradients (no
// backward pass since zero_grad()). Throws Error for a penalty that is negative or over 1e30.
template <class D, class T>
void add_weight_penalty_(Network<D, T>& model, const WeightPenaltyOptions& options) {
  constexpr double most = 1e30;
  require(options.l1 >= 0 && options.l1 <= most && options.l2 >= 0 && options.l2 <= most,
          "gpunet::nn::utils::add_weight_penalty_: l1 ", options.l1, ", l2 ", options.l2,
          " (want 0 to 1e+30, a negative cost rewards weights for growing), give 0 for none");
  const auto use = model.exclusive_use();
  if (model.gradients().zeroed() || (options.l1 == 0 && options.l2 == 0)) return;
  for (const auto& parameter : model.named_parameters())
    if (parameter.sizes.rank() > 1)
      for_each(model.device(), parameter.sizes.numel(),
               AddPenaltyGradient<T>{static_cast<T>(options.l1), static_cast<T>(options.l2),
                                     model.parameters().data() + parameter.offset,
                                     model.gradients().data() + parameter.offset});
}

}  // namespace gpunet::nn::utils
