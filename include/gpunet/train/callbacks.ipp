// Bodies of callbacks.hpp.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/train/callbacks.hpp>

namespace gpunet::train {

GPUNET_INLINE bool Best::step(double value, bool higher_is_better, double min_delta) {
  const double gain = higher_is_better ? value - best_ : best_ - value;
  const bool better = empty_ ? !std::isnan(value) : gain > min_delta;
  if (better) best_ = value, empty_ = false;
  return better;
}

GPUNET_INLINE void Best::visit_state(StateVisitor& state) {
  state.value("best", best_);
  state.value("empty", empty_);
}

GPUNET_INLINE bool detail::higher_is_better(const std::optional<Monitor>& monitor,
                                            std::optional<Mode> mode, const char* where) {
  if (mode) return *mode == Mode::max;
  if (!monitor) return false;
  for (const Metric metric : each_metric)
    if (monitor->name == name_of(metric)) return train::higher_is_better(metric);
  throw_error(Error(concat("gpunet::train::", where, ": ", monitor->name,
                           " is monitored without a mode (whether higher is better), give .mode = "
                           "train::Mode::max or min")));
}

GPUNET_INLINE EarlyStopping::EarlyStopping(const EarlyStoppingOptions& options)
    : options_(options),
      higher_is_better_(detail::higher_is_better(options.monitor, options.mode, "EarlyStopping")) {
  require(options.patience >= 0, "gpunet::train::EarlyStopping: a patience of ", options.patience,
          " epochs (want 0 or more)");
  require(options.min_delta >= 0, "gpunet::train::EarlyStopping: min_delta ", options.min_delta,
          " (want 0 or more)");
}

GPUNET_INLINE bool EarlyStopping::step(double value) {
  waited_ = best_.step(value, higher_is_better_, options_.min_delta) ? 0 : waited_ + 1;
  return waited_ > 0 && waited_ >= options_.patience;
}

GPUNET_INLINE void EarlyStopping::visit_state(StateVisitor& state) {
  best_.visit_state(state);
  state.count("waited", waited_);
  state.bytes("weights", weights_);
}

GPUNET_INLINE void EarlyStopping::on_fit_begin(Training& run) {
  best_ = {};
  waited_ = 0;
  weights_.clear();
  (void)run.monitored(options_.monitor);
}

GPUNET_INLINE void EarlyStopping::stop(Training& run) const {
  run.stop(End::no_improvement,
           concat(run.monitored(options_.monitor), " did not improve in ", waited_, " epochs"));
}

GPUNET_INLINE void EarlyStopping::note_best(Training& run) const {
  run.note_best(options_.monitor, best_.value(), options_.restore_best_weights ? "restored" : "",
                this);
}

GPUNET_INLINE ModelCheckpoint::ModelCheckpoint(std::string path,
                                               const ModelCheckpointOptions& options)
    : path_(std::move(path)),
      options_(options),
      higher_is_better_(
          detail::higher_is_better(options.monitor, options.mode, "ModelCheckpoint")) {
  io::written_format(path_);
  const io::AtomicFile probe(path_);
}

GPUNET_INLINE bool ModelCheckpoint::is_due(double value) {
  const bool better = best_.step(value, higher_is_better_);
  return better || !options_.save_best_only;
}

GPUNET_INLINE void ModelCheckpoint::note_best(Training& run) const {
  run.note_best(options_.monitor, best_.value(), options_.save_best_only ? "saved to " + path_ : "",
                this);
}

GPUNET_INLINE void ModelCheckpoint::on_fit_begin(Training& run) {
  best_ = {};
  (void)run.monitored(options_.monitor);
}

GPUNET_INLINE StopOnNaN::StopOnNaN(index_t every) : every_(every) {
  require(every >= 1, "gpunet::train::StopOnNaN: every ", every, " steps (want 1 or more)");
}
GPUNET_INLINE void StopOnNaN::on_step_end(Training& run) const {
  if (run.total_steps % every_ != 0 && run.step != run.steps) return;
  if (const index_t bad = run.first_not_finite(); bad >= 0)
    run.stop(End::not_finite, detail::not_finite(bad, run.steps));
}

}  // namespace gpunet::train
