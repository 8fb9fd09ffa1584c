// Bodies of swa_utils.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gpunet/model/arena.hpp>
#include <gpunet/ops/lerp.hpp>
#include <gpunet/optim/swa_utils.hpp>

namespace gpunet::optim::swa_utils {

GPUNET_INLINE MultiAvgFn get_ema_multi_avg_fn(double decay) {
  require_option(decay >= 0 && decay <= 1, "swa_utils::get_ema_multi_avg_fn", "decay value", decay,
                 "0 to 1");
  return {decay};
}

namespace detail {

// average[i] = the mean of `count` numbers, of which x[i] is the last and average[i] the mean of
// the others.
template <class T>
struct AverageEqually {
  T count;
  const T* x;
  T* average;
  GPUNET_FN void operator()(index_t i) const {
    average[i] = average[i] + (x[i] - average[i]) / count;
  }
};

template <class D, class T>
void average_weights(Network<D, T>& average, const Network<D, T>& model,
                     const AveragedModelOptions& options, index_t count) {
  constexpr const char* name = "gpunet::optim::swa_utils::AveragedModel::update_parameters";
  require(
      &average.device() == &model.device(), name,
      ": the model is on another device than the one that was copied, make an AveragedModel of it");
  const auto ranges = gpunet::detail::common_ranges(name, average.graph(), model.graph());
  const auto use = average.exclusive_use();
  const auto use_model = model.shared_use();
  D& device = average.device();
  const auto copy = [&](T* to, const T* from, index_t n) {
    device.copy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  };
  const auto& function = options.multi_avg_fn;
  // PyTorch divides by a counter that is a tensor: in float.
  const T weight = function && function->decay ? static_cast<T>(1 - *function->decay)
                                               : static_cast<T>(1 / static_cast<float>(count + 1));
  const auto add = [&](T* to, const T* from, index_t n) {
    if (count == 0)
      copy(to, from, n);
    else if (function)
      for_each(device, n, Lerp<T>{weight, from, to});
    else
      for_each(device, n, AverageEqually<T>{static_cast<T>(count + 1), from, to});
  };
  for (const auto& [here, there, size] : ranges.parameters)
    add(average.parameters().data() + here, model.parameters().data() + there, size);
  const T* const from = model.buffers().data();
  T* const to = average.buffers().data();
  if (!options.use_buffers) {
    for (const auto& [here, there, size] : ranges.buffers)
      copy(to + here, from + there, size);
  } else {
    for (std::size_t i = 0; i < average.named_buffers().size(); ++i) {
      const BufferInfo& here = average.named_buffers()[i];
      const BufferInfo& there = *gpunet::detail::named(model.named_buffers(), here.name, i);
      if (here.kind == BufferKind::numbers)
        add(to + here.offset, from + there.offset, here.sizes.numel());
      else
        device.copy(to + here.offset, from + there.offset, sizeof(index_t));
    }
  }
  average.note_update();
}

GPUNET_COMPILE_TEMPLATES(GPUNET_AVERAGE_WEIGHTS)

}  // namespace detail

GPUNET_INLINE SWALR::SWALR(Rates& optimizer, const SWALROptions& options)
    : LRScheduler(optimizer), options_(options) {
  constexpr const char* name = "swa_utils::SWALR";
  require_option(name, "swa_lr", options.swa_lr);
  require_option(options.anneal_epochs >= 0, name, "anneal_epochs", options.anneal_epochs,
                 "0 or more");
  begin();
}

GPUNET_INLINE double SWALR::share(index_t step) const {
  const double t = std::clamp(
      static_cast<double>(step) / static_cast<double>(std::max(index_t{1}, options_.anneal_epochs)),
      0.0, 1.0);
  return options_.anneal_strategy == lr_scheduler::Anneal::linear
             ? t
             : (1 - std::cos(std::numbers::pi * t)) / 2;
}

GPUNET_INLINE double SWALR::first() {
  return next();
}

GPUNET_INLINE double SWALR::next() {
  const index_t step =
      options_.anneal_epochs == 0 ? std::max(index_t{1}, last_epoch()) : last_epoch();
  const double before = share(step - 1), now = share(step), swa_lr = options_.swa_lr;
  const double lr = before == 1 ? swa_lr : (rates_->lr() - before * swa_lr) / (1 - before);
  return swa_lr * now + lr * (1 - now);
}

}  // namespace gpunet::optim::swa_utils
