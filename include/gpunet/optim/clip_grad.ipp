// Bodies of clip_grad.hpp.
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/functions/clamp.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/norm.hpp>
#include <gpunet/optim/clip_grad.hpp>

namespace gpunet::nn::utils {

// g[i] *= min(1, max_norm / (norm + 1e-6)), as in torch.nn.utils.clip_grad_norm_. One index = one
// parameter.
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

namespace detail {

// Calls f with the ranges of the arena that hold the gradients of the parameters with these
// indices, neighbors in one call.
template <class D, class T, class F>
void each_range(const Network<D, T>& model, const std::vector<int>* indices, F f) {
  const auto& parameters = model.named_parameters();
  if (model.gradients().zeroed()) return;
  if (!indices || indices->size() == parameters.size())
    return f(ArenaRange{0, model.gradients().size()});
  ArenaRange range{0, 0};
  for (const int i : *indices) {
    const auto at = static_cast<std::size_t>(i);
    if (!model.plan().has_gradient[at]) continue;
    if (range.end != parameters[at].offset) {
      if (range.size() > 0) f(range);
      range.begin = parameters[at].offset;
    }
    range.end = parameters[at].end();
  }
  if (range.size() > 0) f(range);
}

template <class Kind, class D, class T>
void norm_of(Network<D, T>& model, const std::vector<int>* indices, void* scratch, T* result) {
  auto* const sums = static_cast<typename NormBlocks<Kind, T>::Sum*>(scratch);
  const T* const g = model.gradients().data();
  index_t blocks = 0;
  each_range(model, indices, [&](const ArenaRange& range) {
    blocks += begin_norm<Kind>(model.device(), range.size(), g + range.begin, sums + blocks);
  });
  finish_norm<Kind>(model.device(), blocks, sums, result);
}

template <class D, class T>
TotalNorm<D, T> clip_grad_norm(Network<D, T>& model, const std::vector<int>* indices,
                               double max_norm, double norm_type, bool error_if_nonfinite) {
  require(max_norm >= 0, "gpunet::nn::utils::clip_grad_norm_: a norm of at most ", max_norm,
          " (want 0 or more)");
  const auto use = model.exclusive_use();
  auto& device = model.device();
  const auto& gradients = model.gradients();
  // A block more for the end of each parameter.
  const index_t bytes = norm_scratch_bytes(gradients.size()) +
                        (indices ? std::ssize(*indices) : 0) * norm_scratch_bytes(1);
  const auto [result, scratch, number] = gradients.begin_measurement(device, bytes);
  if (norm_type == 2)
    norm_of<Norm2>(model, indices, scratch, result);
  else if (norm_type == 1)
    norm_of<Norm1>(model, indices, scratch, result);
  else if (norm_type == std::numeric_limits<double>::infinity())
    norm_of<NormInf>(model, indices, scratch, result);
  else
    require(false, "gpunet::nn::utils::clip_grad_norm_: a norm of type ", norm_type,
            " (want 1, 2 or infinity)");
  if (error_if_nonfinite) {
    T total;
    device.download(&total, result, sizeof total);
    require(std::isfinite(total), "gpunet::nn::utils::clip_grad_norm_: the total norm of order ",
            norm_type,
            " for gradients from `parameters` is non-finite, so it cannot be clipped: look for the "
            "step that made it, or set error_if_nonfinite to false to scale them by it anyway");
  }
  ScaleToNorm<T> scale{static_cast<T>(max_norm), result, nullptr};
  each_range(model, indices, [&](const ArenaRange& range) {
    scale.g = gradients.data() + range.begin;
    for_each(device, range.size(), scale);
  });
  return {model, result, number};
}

template <class D, class T>
void clip_grad_value(Network<D, T>& model, const std::vector<int>* indices, double clip_value) {
  require(clip_value >= 0, "gpunet::nn::utils::clip_grad_value_: values of at most ", clip_value,
          " (want 0 or more)");
  const auto use = model.exclusive_use();
  T* const g = model.gradients().data();
  each_range(model, indices, [&](const ArenaRange& range) {
    map(model.device(), range.size(),
        Clamp<T>{static_cast<T>(-clip_value), static_cast<T>(clip_value)}, g + range.begin,
        g + range.begin);
  });
}

}  // namespace detail

GPUNET_COMPILE_TEMPLATES(GPUNET_CLIP_GRAD_NORM)
GPUNET_COMPILE_TEMPLATES(GPUNET_CLIP_GRAD_VALUE)

}  // namespace gpunet::nn::utils
