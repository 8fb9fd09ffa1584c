// Bodies of weight_penalty.hpp.
#pragma once

#include <gpunet/optim/weight_penalty.hpp>

namespace gpunet::nn::utils {

// g[i] += the gradient of l1 |w[i]| + l2 w[i]^2 / 2; that of |w| is 0 at 0, as in PyTorch. One
// index = one weight.
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

template <class D, class T>
void add_weight_penalty_(Network<D, T>& model, const WeightPenaltyOptions& options) {
  constexpr double most = 1e30;
  require(options.l1 >= 0 && options.l1 <= most && options.l2 >= 0 && options.l2 <= most,
          "gpunet::nn::utils::add_weight_penalty_: l1 ", options.l1, ", l2 ", options.l2,
          " (want 0 to 1e+30, a negative cost rewards weights for growing), give 0 for none");
  const auto use = model.exclusive_use();
  if (model.gradients().zeroed() || (options.l1 == 0 && options.l2 == 0)) return;
  const auto& parameters = model.named_parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (const ParameterInfo& parameter = parameters[i];
        parameter.sizes.rank() > 1 && model.plan().has_gradient[i])
      for_each(model.device(), parameter.sizes.numel(),
               AddPenaltyGradient<T>{static_cast<T>(options.l1), static_cast<T>(options.l2),
                                     model.parameters().data() + parameter.offset,
                                     model.gradients().data() + parameter.offset});
}

GPUNET_COMPILE_TEMPLATES(GPUNET_WEIGHT_PENALTY)

}  // namespace gpunet::nn::utils
