// Bodies of callbacks.hpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

#include <gpunet/train/callbacks.hpp>

namespace gpunet::train {

namespace detail {

inline std::string line_of(const Training& run) {
  std::string text = concat("epoch ", run.epoch, "/", run.epochs);
  const auto add = [&](const char* format, double value) {
    char part[64];
    if (!std::isnan(value))
      text.append(part, static_cast<std::size_t>(std::snprintf(part, sizeof part, format, value)));
  };
  add("  loss %.4g", run.current.loss);
  add("  accuracy %.2f %%", 100 * run.current.accuracy);
  add("  val_loss %.4g", run.current.val_loss);
  add("  val_accuracy %.2f %%", 100 * run.current.val_accuracy);
  add("  %.1f s", run.current.seconds);
  return text;
}

}  // namespace detail

GPUNET_INLINE void ProgressBar::on_epoch_begin(Training& run) {
  if (options_.quiet) return;
  progress_.emplace(
      ProgressOptions{
          .total = run.steps, .batch_size = run.batch_size, .label = concat("epoch ", run.epoch, "/", run.epochs)},
      options_.terminal);
}
GPUNET_INLINE void ProgressBar::on_step_end(Training& run) {
  if (progress_ && progress_->due()) progress_->update(run.step, run.loss(), run.accuracy());
}
GPUNET_INLINE void ProgressBar::on_epoch_end(Training& run) {
  if (progress_) progress_->line(detail::line_of(run));
}
GPUNET_INLINE void ProgressBar::on_fit_end(Training& run) {
  if (progress_ && !run.history.why.empty())
    progress_->line(concat(run.stopped() ? "stopped: " : "", run.history.why));
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
