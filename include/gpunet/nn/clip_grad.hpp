// Gradients cut to a size, between backward() and step().
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/core/error.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/norm.hpp>
#include <gpunet/tensor/tensor.hpp>

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

// A number between -limit and limit.
template <class T>
struct Clamp {
  T limit;
  GPUNET_FN T operator()(T x) const { return x > limit ? limit : x < -limit ? -limit : x; }
};

// Scales the gradients of a model down to max_norm where their norm is larger, and returns the norm they had, [1]: of all
// parameters together, of type 2, 1 or infinity. It waits for the device only with error_if_nonfinite, and then throws
// where the norm is infinite or not a number. Without gradients (no backward pass since zero_grad()) the norm is 0.
template <class Model>
auto clip_grad_norm_(Model& model, double max_norm, double norm_type = 2, bool error_if_nonfinite = false) {
  using T = typename Model::value_type;
  require(max_norm >= 0, "gpunet::nn::utils::clip_grad_norm_: a norm of at most ", max_norm, " (want 0 or more)");
  auto& device = model.device();
  const index_t n = model.gradients().zeroed() ? 0 : model.gradients().size();
  T* const g = model.gradients().data();
  Tensor<T, typename Model::device_type> total(device, {1});
  if (norm_type == 2)
    norm<Norm2>(device, n, g, total.data());
  else if (norm_type == 1)
    norm<Norm1>(device, n, g, total.data());
  else if (norm_type == std::numeric_limits<double>::infinity())
    norm<NormInf>(device, n, g, total.data());
  else
    require(false, "gpunet::nn::utils::clip_grad_norm_: a norm of type ", norm_type, " (want 1, 2 or infinity)");
  require(!error_if_nonfinite || std::isfinite(total.item()),
          "gpunet::nn::utils::clip_grad_norm_: the total norm of order ", norm_type,
          " for gradients from `parameters` is non-finite, so it cannot be clipped: look for the step that made "
          "it, or set error_if_nonfinite to false to scale them by it anyway");
  for_each(device, n, ScaleToNorm<T>{static_cast<T>(max_norm), total.data(), g});
  return total;
}

// Cuts every element of the gradients of a model to the range from -clip_value to clip_value.
template <class Model>
void clip_grad_value_(Model& model, double clip_value) {
  using T = typename Model::value_type;
  require(clip_value >= 0, "gpunet::nn::utils::clip_grad_value_: values of at most ", clip_value,
          " (want 0 or more)");
  if (model.gradients().zeroed()) return;
  T* const g = model.gradients().data();
  map(model.device(), model.gradients().size(), Clamp<T>{static_cast<T>(clip_value)}, g, g);
}

}  // namespace gpunet::nn::utils
