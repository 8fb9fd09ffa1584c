// The parts that train::fit() takes after its options: early stopping, checkpoints and others; progress.hpp has the progress bar.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <gpunet/model/save_load.hpp>
#include <gpunet/optim/clip_grad.hpp>
#include <gpunet/optim/weight_penalty.hpp>
#include <gpunet/train/interrupt.hpp>
#include <gpunet/train/training.hpp>

namespace gpunet::train {

// The best value so far. NaN is never the best.
class Best {
 public:
  // Stores the value and returns true if it is better than the best so far by more than min_delta.
  bool step(double value, bool higher_is_better, double min_delta = 0);

 private:
  double best_ = 0;
  bool empty_ = true;
};

// Options of EarlyStopping.
struct EarlyStoppingOptions {
  index_t patience = 3;                          // stops after this many epochs without improvement; 0 means 1
  double min_delta = 0;                          // an improvement must be greater than this
  std::optional<Metric> monitor = std::nullopt;  // default: val_loss or, without validation, loss
};

// Stops when a metric has not improved for some epochs, as in Keras and Lightning. In your own loop:
//   if (early_stopping.step(val_loss)) break;
class EarlyStopping {
 public:
  // Throws Error if an option is negative.
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});

  // Takes the metric after an epoch and returns whether to stop. Lower is better unless `monitor` is an accuracy.
  bool step(double value);

  void on_fit_begin(Training& run);
  void on_epoch_end(Training& run);

 private:
  EarlyStoppingOptions options_;
  Best best_;
  index_t waited_ = 0;
};

// Options of ModelCheckpoint.
struct ModelCheckpointOptions {
  bool save_best_only = true;                    // false: after every epoch
  std::optional<Metric> monitor = std::nullopt;  // default: val_loss or, without validation, loss
};

// Saves the model by io::save after each epoch that is the best so far. In your own loop:
//   checkpoint.step(net, val_loss);
class ModelCheckpoint {
 public:
  // Throws Error if the file cannot be written or if io::save refuses its name, so that this shows before the training.
  explicit ModelCheckpoint(std::string path, const ModelCheckpointOptions& options = {});

  // Takes the metric after an epoch, saves the model if it is due, and returns whether it was saved. Lower is better
  // unless `monitor` is an accuracy.
  template <class Model>
  bool step(const Model& model, double value) {
    const bool saved = is_due(value);
    if (saved) io::save(model, path_);
    return saved;
  }

  void on_fit_begin(Training& run);
  template <class Model, class Optimizer>
  void on_epoch_end(Run<Model, Optimizer>& run) {
    step(run.model, run.current[run.monitored(options_.monitor)]);
  }

 private:
  bool is_due(double value);

  std::string path_;
  ModelCheckpointOptions options_;
  Best best_;
};

// Clips the norm of the gradients in every step: nn::utils::clip_grad_norm_.
struct ClipGradNorm {
  double max_norm;
  double norm_type = 2;

  template <class Model, class Optimizer>
  void before_update(Run<Model, Optimizer>& run) const {
    nn::utils::clip_grad_norm_(run.model, max_norm, norm_type);
  }
};
// Clips each gradient in every step: nn::utils::clip_grad_value_.
struct ClipGradValue {
  double clip_value;

  template <class Model, class Optimizer>
  void before_update(Run<Model, Optimizer>& run) const {
    nn::utils::clip_grad_value_(run.model, clip_value);
  }
};

// Adds the gradients of an L1 and L2 weight penalty in every step: nn::utils::add_weight_penalty_.
struct WeightPenalty {
  double l1 = 0, l2 = 0;

  template <class Model, class Optimizer>
  void before_update(Run<Model, Optimizer>& run) const {
    nn::utils::add_weight_penalty_(run.model, {.l1 = l1, .l2 = l2});
  }
};

// Stops when a loss was NaN or infinite. Checks every `every` steps and at the end of an epoch, because a check waits
// for the device.
class StopOnNaN {
 public:
  explicit StopOnNaN(index_t every = 100);

  void on_step_end(Training& run) const;

 private:
  index_t every_;
};

// Ends the training after the current step on Ctrl-C, SIGTERM or SIGHUP; a second Ctrl-C or SIGTERM ends the program.
// The handlers are installed only while fit() runs. To cover saving too and to get an exit status, put an
// InterruptGuard around it.
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

// Calls scheduler.step(), scheduler.step(metric) (as for ReduceLROnPlateau) or function(training) after every epoch.
// Stores lvalues by reference.
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

// Calls scheduler.step() or function(training) after every step. Stores lvalues by reference.
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
