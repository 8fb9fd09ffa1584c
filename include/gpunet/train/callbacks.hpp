// Parts of a training: what fit() takes behind its options. Most can be used in a hand-written loop too.
#pragma once

#include <optional>
#include <utility>

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

  void on_epoch_begin(Training& run);
  void on_step_end(Training& run);
  void on_epoch_end(Training& run);
  void on_fit_end(Training& run);
  void on_exit() noexcept { progress_.reset(); }

 private:
  ProgressBarOptions options_;
  std::optional<Progress> progress_;
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
  explicit StopOnNaN(index_t every = 100);

  void on_step_end(Training& run) const;

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

#if !GPUNET_COMPILED
#include <gpunet/train/callbacks.ipp>
#endif
