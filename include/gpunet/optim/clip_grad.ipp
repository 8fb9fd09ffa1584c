// Bodies of clip_grad.hpp.
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/ops/clamp.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/norm.hpp>
#include <gpunet/optim/clip_grad.hpp>

namespace gpunet::nn::utils {

// g[i] *= min(1, max_norm / (norm + 1e-6)), as in torch.nn.utils.clip_grad_norm_. One index = one parameter.
template <class T>
struct ScaleToNorm {
  T max_norm;
  const T* norm;
  T* g;
  GPUNET_FN void operator()(index_t i) const {
    const T scale = max_norm / (norm[0] + static_cast<T>(1e-6));
    g[i] *= scale > T{1} ? T{1} : scale;
  }
};

template <class D, class T>
TotalNorm<D, T> clip_grad_norm_(Network<D, T>& model, double max_norm, double norm_type, bool error_if_nonfinite) {
  require(max_norm >= 0, "gpunet::nn::utils::clip_grad_norm_: a norm of at most ", max_norm, " (want 0 or more)");
  const auto use = model.exclusive_use();
  auto& device = model.device();
  const auto& gradients = model.gradients();
  const index_t n = gradients.zeroed() ? 0 : gradients.size();
  T* const g = gradients.data();
  const auto [result, scratch, number] = gradients.begin_measurement(device, norm_scratch_bytes(gradients.size()));
  if (norm_type == 2)
    norm<Norm2>(device, n, g, scratch, result);
  else if (norm_type == 1)
    norm<Norm1>(device, n, g, scratch, result);
  else if (norm_type == std::numeric_limits<double>::infinity())
    norm<NormInf>(device, n, g, scratch, result);
  else
    require(false, "gpunet::nn::utils::clip_grad_norm_: a norm of type ", norm_type, " (want 1, 2 or infinity)");
  if (error_if_nonfinite) {
    T total;
    device.download(&total, result, sizeof total);
    require(std::isfinite(total), "gpunet::nn::utils::clip_grad_norm_: the total norm of order ", norm_type,
            " for gradients from `parameters` is non-finite, so it cannot be clipped: look for the step that made "
            "it, or set error_if_nonfinite to false to scale them by it anyway");
  }
  for_each(device, n, ScaleToNorm<T>{static_cast<T>(max_norm), result, g});
  return {model, result, number};
}

template <class D, class T>
void clip_grad_value_(Network<D, T>& model, double clip_value) {
  require(clip_value >= 0, "gpunet::nn::utils::clip_grad_value_: values of at most ", clip_value,
          " (want 0 or more)");
  const auto use = model.exclusive_use();
  if (model.gradients().zeroed()) return;
  T* const g = model.gradients().data();
  map(model.device(), model.gradients().size(), Clamp<T>{static_cast<T>(-clip_value), static_cast<T>(clip_value)},
      g, g);
}

GPUNET_COMPILE_TEMPLATES(GPUNET_CLIP_GRAD_NORM)
GPUNET_COMPILE_TEMPLATES(GPUNET_CLIP_GRAD_VALUE)

}  // namespace gpunet::nn::utils
