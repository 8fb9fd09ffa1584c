// Bodies of training.hpp.
#pragma once

#include <gpunet/train/training.hpp>

namespace gpunet::train {

GPUNET_INLINE const char* name_of(Metric metric) {
  constexpr const char* names[] = {"loss", "accuracy", "val_loss", "val_accuracy"};
  return names[static_cast<int>(metric)];
}

GPUNET_INLINE double Epoch::operator[](Metric metric) const {
  const double values[] = {loss, accuracy, val_loss, val_accuracy};
  return values[static_cast<int>(metric)];
}

GPUNET_INLINE Training::~Training() = default;

GPUNET_INLINE void Training::stop(End end, std::string why) {
  if (stopped()) return;
  history.end = end;
  history.why = std::move(why);
}

GPUNET_INLINE Metric Training::monitored(std::optional<Metric> wish) const {
  const Metric metric = wish.value_or(has_validation ? Metric::val_loss : Metric::loss);
  const bool validation = metric == Metric::val_loss || metric == Metric::val_accuracy;
  require(!validation || has_validation, "gpunet::train::fit: ", name_of(metric),
          " is monitored but not measured, give fit a train::Validation(loader)");
  require(metric != Metric::accuracy || has_accuracy,
          "gpunet::train::fit: accuracy is monitored but not measured, give fit a train::Accuracy");
  return metric;
}

}  // namespace gpunet::train
