// Parts of a training: what fit() takes behind its options. Most can be used in a hand-written loop too.
#pragma once

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gpunet/io/summary_writer.hpp>
#include <gpunet/optim/clip_grad.hpp>
#include <gpunet/optim/weight_penalty.hpp>
#include <gpunet/train/interrupt.hpp>
#include <gpunet/train/monitors.hpp>
#include <gpunet/train/progress.hpp>
#include <gpunet/train/training.hpp>

namespace gpunet::train {

// Whether and where a bar is shown.
struct ProgressBarOptions {
  bool quiet = false;      // shows nothing
  Terminal terminal = {};  // where it is shown
};

// Shows a bar while an epoch runs, where there is a terminal, and a line when it is done.
class ProgressBar {
 public:
  explicit ProgressBar(const ProgressBarOptions& options = {}) : options_(options) {}

  void on_epoch_begin(Training& run) {
    if (options_.quiet) return;
    progress_.emplace(ProgressOptions{.total = run.steps,
                                      .batch_size = run.batch_size,
                                      .label = concat("epoch ", run.epoch, "/", run.epochs)},
                      options_.terminal);
  }
  void on_step_end(Training& run) {
    if (progress_ && progress_->due()) progress_->update(run.step, run.loss(), run.accuracy());
  }
  void on_epoch_end(Training& run) {
    if (progress_) progress_->line(text(run));
  }
  void on_fit_end(Training& run) {
    if (progress_ && !run.history.why.empty())
      progress_->line(concat(run.stopped() ? "stopped: " : "", run.history.why));
  }
  void on_exit() noexcept { progress_.reset(); }

 private:
  static std::string text(const Training& run) {
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

  ProgressBarOptions options_;
  std::optional<Progress> progress_;
};

// How often TensorBoard hears of a training.
struct TensorBoardOptions {
  // Steps between points of the loss so far; each waits for the device. 0: none but once an epoch.
  index_t every = 0;
};

// Writes Loss/train, Loss/validation, Accuracy/train, Accuracy/validation and LearningRate once an epoch.
class TensorBoard {
 public:
  // Into a folder, as io::SummaryWriter takes it (a new one below runs/ by default),
  explicit TensorBoard(std::string log_dir = "", const TensorBoardOptions& options = {})
      : own_(std::make_unique<io::SummaryWriter>(std::move(log_dir))), writer_(*own_), options_(checked(options)) {}
  // or by a writer that somebody else has.
  explicit TensorBoard(io::SummaryWriter& writer, const TensorBoardOptions& options = {})
      : writer_(writer), options_(checked(options)) {}

  void on_step_end(Training& run) {
    if (options_.every > 0 && run.total_steps % options_.every == 0)
      writer_.add_scalar("Loss/step", run.loss(), run.total_steps);
  }
  void on_epoch_end(Training& run) {
    const auto add = [&](const char* tag, double value) {
      if (!std::isnan(value)) writer_.add_scalar(tag, value, run.epoch);
    };
    add("Loss/train", run.current.loss);
    add("Loss/validation", run.current.val_loss);
    add("Accuracy/train", run.current.accuracy);
    add("Accuracy/validation", run.current.val_accuracy);
    add("LearningRate", run.current.lr);
  }

 private:
  static const TensorBoardOptions& checked(const TensorBoardOptions& options) {
    require(options.every >= 0, "gpunet::train::TensorBoard: a point every ", options.every,
            " steps (want 0, for none, or more)");
    return options;
  }

  std::unique_ptr<io::SummaryWriter> own_;
  io::SummaryWriter& writer_;
  TensorBoardOptions options_;
};

// Clips the gradients of every step: nn::utils::clip_grad_norm_,
struct ClipGradNorm {
  double max_norm;
  double norm_type = 2;

  template <class Model, class Optimizer>
  void before_update(Run<Model, Optimizer>& run) const {
    nn::utils::clip_grad_norm_(run.model, max_norm, norm_type);
  }
};
// and clip_grad_value_.
struct ClipGradValue {
  double clip_value;

  template <class Model, class Optimizer>
  void before_update(Run<Model, Optimizer>& run) const {
    nn::utils::clip_grad_value_(run.model, clip_value);
  }
};

// Adds to the gradients of every step what keeps weights small: nn::utils::add_weight_penalty_.
struct WeightPenalty {
  double l1 = 0, l2 = 0;

  template <class Model, class Optimizer>
  void before_update(Run<Model, Optimizer>& run) const {
    nn::utils::add_weight_penalty_(run.model, {.l1 = l1, .l2 = l2});
  }
};

// Stops when a loss was NaN or infinite. It looks every so many steps, and at the end of an epoch: looking waits for the
// device.
class StopOnNaN {
 public:
  explicit StopOnNaN(index_t every = 100) : every_(every) {
    require(every >= 1, "gpunet::train::StopOnNaN: every ", every, " steps (want 1 or more)");
  }

  void on_step_end(Training& run) const {
    if (run.total_steps % every_ != 0 && run.step != run.steps) return;
    if (const index_t bad = run.first_not_finite(); bad >= 0)
      run.stop(End::not_finite, detail::not_finite(bad, run.steps));
  }

 private:
  index_t every_;
};

// Ends the training after the current step on Ctrl-C, SIGTERM or SIGHUP; a second Ctrl-C or SIGTERM ends the program. The
// handlers are installed only while fit() runs: an InterruptGuard around it also covers saving and has the exit status.
class StopOnInterrupt {
 public:
  void on_fit_begin(Training&) { guard_.emplace(); }
  void on_step_end(Training& run) const { look(run); }
  void on_validation_step_end(Training& run) const { look(run); }
  void on_exit() noexcept { guard_.reset(); }

 private:
  void look(Training& run) const {
    if (guard_->interrupted()) run.stop(End::interrupted, "interrupted");
  }
  std::optional<InterruptGuard> guard_;
};

// Something that is done after every epoch, or every step: a schedule takes its step (one that waits for a metric, such as
// ReduceLROnPlateau, after an epoch only), and a function is called with the training. What has a name is kept by
// reference.
template <class F>
class EachEpoch {
 public:
  explicit EachEpoch(F&& f, std::optional<Metric> monitor = std::nullopt)
      : f_(std::forward<F>(f)), monitor_(monitor) {}

  template <class R>
  void on_epoch_end(R& run) {
    if constexpr (requires { f_.step(0.0); })
      f_.step(run.current[run.monitored(monitor_)]);
    else if constexpr (requires { f_.step(); })
      f_.step();
    else
      f_(run);
  }

 private:
  F f_;
  std::optional<Metric> monitor_;
};
template <class F>
EachEpoch(F&&) -> EachEpoch<F>;
template <class F>
EachEpoch(F&&, Metric) -> EachEpoch<F>;

// The same after every step.
template <class F>
class EachStep {
 public:
  explicit EachStep(F&& f) : f_(std::forward<F>(f)) {}

  template <class R>
  void on_step_end(R& run) {
    if constexpr (requires { f_.step(); })
      f_.step();
    else
      f_(run);
  }

 private:
  F f_;
};
template <class F>
EachStep(F&&) -> EachStep<F>;

}  // namespace gpunet::train
