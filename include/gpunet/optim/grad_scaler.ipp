// Bodies of grad_scaler.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <gpunet/core/error.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/norm.hpp>
#include <gpunet/optim/grad_scaler.hpp>

namespace gpunet::amp {

GPUNET_INLINE GradScaler::GradScaler(const GradScalerOptions& options)
    : options_(options), scale_(static_cast<float>(options.init_scale)) {
  check(options_, "");
}

GPUNET_INLINE void GradScaler::check(const GradScalerOptions& options, const char* where) {
  const auto require_option = [where](bool is_fine, const char* what, auto value,
                                      const char* want) {
    require(is_fine, "gpunet::amp::GradScaler", where, ": invalid ", what, " ", value, " (want ",
            want, ")");
  };
  const auto scale = static_cast<float>(options.init_scale);
  require_option(scale > 0 && std::isfinite(scale), "scale", options.init_scale,
                 "more than 0, and finite as a float");
  require_option(options.growth_factor > 1 && std::isfinite(options.growth_factor), "growth_factor",
                 options.growth_factor, "more than 1");
  require_option(options.backoff_factor > 0 && options.backoff_factor < 1, "backoff_factor",
                 options.backoff_factor, "more than 0 and less than 1");
  require_option(options.growth_interval >= 1, "growth_interval", options.growth_interval,
                 "1 or more");
}

GPUNET_INLINE double GradScaler::scale_of(Storage storage) const {
  if (!options_.enabled) return 1;
  require(storage == Storage::float16, "gpunet::amp::GradScaler::scale: the model stores ",
          storage == Storage::full ? "floats" : "bfloat16",
          " (want float16: other gradients do not underflow), call net.autocast(Storage::float16), "
          "or make the scaler with {.enabled = false}");
  return scale_;
}

GPUNET_INLINE GradScaler::OfOptimizer& GradScaler::state_of(const optim::Rates& optimizer) {
  for (OfOptimizer& of : optimizers_)
    if (&*of.optimizer == &optimizer) return of;
  return optimizers_.emplace_back(OfOptimizer{TrackedPointer<const optim::Rates>(optimizer)});
}

GPUNET_INLINE void GradScaler::require_not_stepped(const OfOptimizer& of) {
  require(
      of.stage != Stage::stepped,
      "gpunet::amp::GradScaler::step: step() has already been called since the last update(), call "
      "scaler.update() after the steps of all optimizers");
}

GPUNET_INLINE void GradScaler::require_unscalable(const OfOptimizer& of, bool has_gradients,
                                                  const char* where) {
  require(of.stage != Stage::unscaled,
          "gpunet::amp::GradScaler::unscale_: unscale_() has already been called on this optimizer "
          "since the last update() (its gradients would be divided twice), call it once in a step");
  require(
      of.stage != Stage::stepped,
      "gpunet::amp::GradScaler::unscale_: unscale_() is being called after step(), call it before");
  require(has_gradients, "gpunet::amp::GradScaler::", where,
          ": there are no gradients (no backward pass since zero_grad()), call "
          "scaler.scale(loss).backward() before");
}

GPUNET_INLINE void GradScaler::update() {
  if (!options_.enabled) return;
  require(
      !optimizers_.empty(),
      "gpunet::amp::GradScaler::update: no gradients were checked since the last update(), call "
      "scaler.step(optimizer) before");
  const bool found_inf = std::any_of(optimizers_.begin(), optimizers_.end(),
                                     [](const OfOptimizer& of) { return of.found_inf; });
  optimizers_.clear();
  if (found_inf) {
    scale_ = static_cast<float>(double{scale_} * options_.backoff_factor);
    growth_tracker_ = 0;
    if (constexpr index_t many = 10; ++falls_ == many)
      std::fprintf(stderr, "%s\n",
                   concat("gpunet::amp::GradScaler: the gradients of ", many,
                          " steps in a row were infinite or NaN (none has changed the parameters, "
                          "and the scale has fallen to ",
                          scale_,
                          "), look for the first such output by net.detect_anomaly(), at the "
                          "learning rate, and at numbers over 65504, the largest of float16")
                       .c_str());
    return;
  }
  falls_ = 0;
  if (++growth_tracker_ == options_.growth_interval) {
    if (const auto grown = static_cast<float>(double{scale_} * options_.growth_factor);
        std::isfinite(grown))
      scale_ = grown;
    growth_tracker_ = 0;
  }
}

GPUNET_INLINE void GradScaler::update(double new_scale) {
  if (!options_.enabled) return;
  GradScalerOptions options = options_;
  options.init_scale = new_scale;
  check(options, "::update");
  scale_ = static_cast<float>(new_scale);
  falls_ = 0;
  optimizers_.clear();
}

GPUNET_INLINE void GradScaler::set_growth_factor(double factor) {
  GradScalerOptions options = options_;
  options.growth_factor = factor;
  check(options, "::set_growth_factor");
  options_ = options;
}

GPUNET_INLINE void GradScaler::set_backoff_factor(double factor) {
  GradScalerOptions options = options_;
  options.backoff_factor = factor;
  check(options, "::set_backoff_factor");
  options_ = options;
}

GPUNET_INLINE void GradScaler::set_growth_interval(index_t interval) {
  GradScalerOptions options = options_;
  options.growth_interval = interval;
  check(options, "::set_growth_interval");
  options_ = options;
}

GPUNET_INLINE void GradScaler::load_state_dict(const GradScalerState& state) {
  GradScalerOptions options{state.scale, state.growth_factor, state.backoff_factor,
                            state.growth_interval, options_.enabled};
  check(options, "::load_state_dict");
  require(state.growth_tracker >= 0,
          "gpunet::amp::GradScaler::load_state_dict: invalid growth_tracker ", state.growth_tracker,
          " (want 0 or more)");
  options_ = options;
  scale_ = static_cast<float>(state.scale);
  falls_ = 0;
  growth_tracker_ = state.growth_tracker;
}

namespace detail {

template <class D, class T>
bool unscale(Network<D, T>& model, std::span<const ArenaRange> ranges, double factor) {
  D& device = model.device();
  const auto& gradients = model.gradients();
  const auto count = static_cast<index_t>(ranges.size());
  // The largest magnitude of each range, and then of all: one number is read.
  const index_t scratch_bytes = norm_scratch_bytes(std::max(gradients.size(), count));
  const auto [result, scratch, number] =
      gradients.begin_measurement(device, scratch_bytes + count * static_cast<index_t>(sizeof(T)));
  T* const largest = reinterpret_cast<T*>(static_cast<std::byte*>(scratch) + scratch_bytes);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    T* const g = gradients.data() + ranges[i].begin;
    norm<NormInf>(device, ranges[i].size(), static_cast<const T*>(g), scratch, largest + i);
    map(device, ranges[i].size(), MultiplyBy<T>{static_cast<T>(factor)}, static_cast<const T*>(g),
        g);
  }
  norm<NormInf>(device, count, static_cast<const T*>(largest), scratch, result);
  T total;
  device.download(&total, result, sizeof total);
  return !std::isfinite(total);
}

}  // namespace detail

GPUNET_COMPILE_TEMPLATES(GPUNET_UNSCALE)

GPUNET_INLINE void GradScaler::visit_state(StateVisitor& state) {
  double scale = scale_;
  state.value("scale", scale);
  state.count("_growth_tracker", growth_tracker_);
  scale_ = static_cast<float>(scale);
}

}  // namespace gpunet::amp
