// The parts that train::fit() takes after its options: early stopping, checkpoints and others;
// progress.hpp has the progress bar.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/core/state.hpp>
#include <gpunet/model/save_load.hpp>
#include <gpunet/optim/clip_grad.hpp>
#include <gpunet/optim/reduce_lr_on_plateau.hpp>
#include <gpunet/optim/weight_penalty.hpp>
#include <gpunet/train/interrupt.hpp>
#include <gpunet/train/training.hpp>

namespace gpunet::train {

using optim::lr_scheduler::Mode;

namespace detail {

// Returns whether a higher value is better: by the mode, or by the metric. Throws Error, as
// `where`, if neither says so.
bool higher_is_better(const std::optional<Monitor>& monitor, std::optional<Mode> mode,
                      const char* where);

}  // namespace detail

// The best value so far. NaN is never the best.
class Best {
 public:
  // Stores the value and returns true if it is better than the best so far by more than min_delta.
  bool step(double value, bool higher_is_better, double min_delta = 0);

  // Returns it; nullopt before the first.
  std::optional<double> value() const { return empty_ ? std::nullopt : std::optional(best_); }

  // Writes or reads it, for a checkpoint.
  void visit_state(StateVisitor& state);

 private:
  double best_ = 0;
  bool empty_ = true;
};

namespace detail {

template <class T, class D>
std::size_t bytes_of(const View<T, D>& view) {
  return static_cast<std::size_t>(view.numel()) * sizeof(T);
}

// Returns a copy of a model's parameters and buffers, in host memory.
template <class D, class T>
std::vector<std::byte> weights_of(const Network<D, T>& model) {
  const auto use = model.shared_use();
  const std::size_t parameters = bytes_of(model.parameters()), buffers = bytes_of(model.buffers());
  std::vector<std::byte> weights(parameters + buffers);
  model.device().download(weights.data(), model.parameters().data(), parameters);
  model.device().download(weights.data() + parameters, model.buffers().data(), buffers);
  return weights;
}

// Copies them back.
template <class D, class T>
void set_weights(Network<D, T>& model, const std::vector<std::byte>& weights) {
  const auto use = model.exclusive_use();
  const std::size_t parameters = bytes_of(model.parameters()), buffers = bytes_of(model.buffers());
  require(weights.size() == parameters + buffers,
          "gpunet::train::EarlyStopping::restore: the stored weights are those of another model, "
          "restore the model that was given to step()");
  model.device().upload(model.parameters().data(), weights.data(), parameters);
  model.device().upload(model.buffers().data(), weights.data() + parameters, buffers);
  model.note_update();
}

}  // namespace detail

// Options of EarlyStopping.
struct EarlyStoppingOptions {
  // Stops after this many epochs without improvement; 0 means 1.
  index_t patience = 3;
  double min_delta = 0;                           // an improvement must be greater than this
  std::optional<Monitor> monitor = std::nullopt;  // default: val_loss or, without validation, loss
  // Whether lower or higher is better; default: that of the metric.
  std::optional<Mode> mode = std::nullopt;
  // At the end, the weights of the best epoch: of the last one that improved it.
  bool restore_best_weights = false;
};

// Stops when a metric has not improved for some epochs, as in Keras and Lightning. In your own
// loop:
//   if (early_stopping.step(val_loss)) break;
// or, to go back to the best weights (parameters and buffers; the optimizer keeps its state):
//   if (early_stopping.step(net, val_loss)) break;
//   ...
//   early_stopping.restore(net);
class EarlyStopping {
 public:
  // Throws Error if an option is negative, and for a Measure without a mode.
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});

  // Takes the metric after an epoch and returns whether to stop. Lower is better unless `monitor`
  // is an accuracy or the mode max.
  bool step(double value);
  // The same; stores the weights of the model if they are the best so far.
  template <class D, class T>
  bool step(const Network<D, T>& model, double value) {
    const bool stops = step(value);
    if (waited_ == 0) weights_ = detail::weights_of(model);
    return stops;
  }
  // Copies the best weights into the model. Does nothing if step(model, value) has stored none.
  template <class D, class T>
  void restore(Network<D, T>& model) const {
    if (!weights_.empty()) detail::set_weights(model, weights_);
  }

  // Writes or reads the best value and its weights, for a checkpoint.
  void visit_state(StateVisitor& state);

  void on_fit_begin(Training& run);
  void on_resume(Training& run) { note_best(run); }
  template <class Model, class Optimizer>
  void on_epoch_end(Run<Model, Optimizer>& run) {
    const double value = run.value_of(options_.monitor);
    if (options_.restore_best_weights ? step(run.model_of(options_.monitor), value) : step(value))
      stop(run);
    note_best(run);
  }
  template <class Model, class Optimizer>
  void on_fit_end(Run<Model, Optimizer>& run) {
    if (options_.restore_best_weights) restore(run.model_of(options_.monitor));
    note_best(run);
  }

 private:
  void note_best(Training& run) const;
  void stop(Training& run) const;

  EarlyStoppingOptions options_;
  bool higher_is_better_;
  Best best_;
  index_t waited_ = 0;
  std::vector<std::byte> weights_;  // of the best epoch
};

// Options of ModelCheckpoint.
struct ModelCheckpointOptions {
  bool save_best_only = true;                     // false: after every epoch
  std::optional<Monitor> monitor = std::nullopt;  // default: val_loss or, without validation, loss
  // Whether lower or higher is better; default: that of the metric.
  std::optional<Mode> mode = std::nullopt;
};

// Saves the model by io::save after each epoch that is the best so far. In your own loop:
//   checkpoint.step(net, val_loss);
class ModelCheckpoint {
 public:
  // Throws Error if the file cannot be written or if io::save refuses its name, so that this shows
  // before the training, and for a Measure without a mode.
  explicit ModelCheckpoint(std::string path, const ModelCheckpointOptions& options = {});

  // Takes the metric after an epoch, saves the model if it is due, and returns whether it was
  // saved. Lower is better unless `monitor` is an accuracy or the mode max.
  template <class Model>
  bool step(const Model& model, double value) {
    const bool saved = is_due(value);
    if (saved) io::save(model, path_);
    return saved;
  }

  // Writes or reads the best value, for a checkpoint.
  void visit_state(StateVisitor& state) { best_.visit_state(state); }

  void on_fit_begin(Training& run);
  void on_resume(Training& run) { note_best(run); }
  template <class Model, class Optimizer>
  void on_epoch_end(Run<Model, Optimizer>& run) {
    if (run.is_main) step(run.model_of(options_.monitor), run.value_of(options_.monitor));
    note_best(run);
  }
  void on_fit_end(Training& run) const { note_best(run); }

 private:
  void note_best(Training& run) const;
  bool is_due(double value);

  std::string path_;
  ModelCheckpointOptions options_;
  bool higher_is_better_;
  Best best_;
};

// Clips the norm of the gradients that the optimizer uses in every step:
// nn::utils::clip_grad_norm_(optimizer.parameters(), max_norm).
struct ClipGradNorm {
  static constexpr bool never_stops = true;  // a training
  double max_norm;
  double norm_type = 2;

  template <class Model, class Optimizer>
  void before_update(Run<Model, Optimizer>& run) const {
    nn::utils::detail::clip_grad_norm(run.model, &run.optimizer.indices(), max_norm, norm_type,
                                      false);
  }
};
// Clips each gradient that the optimizer uses in every step:
// nn::utils::clip_grad_value_(optimizer.parameters(), clip_value).
struct ClipGradValue {
  static constexpr bool never_stops = true;  // a training
  double clip_value;

  template <class Model, class Optimizer>
  void before_update(Run<Model, Optimizer>& run) const {
    nn::utils::detail::clip_grad_value(run.model, &run.optimizer.indices(), clip_value);
  }
};

// Adds the gradients of an L1 and L2 weight penalty in every step: nn::utils::add_weight_penalty_.
struct WeightPenalty {
  static constexpr bool never_stops = true;  // a training
  double l1 = 0, l2 = 0;

  template <class Model, class Optimizer>
  void before_update(Run<Model, Optimizer>& run) const {
    nn::utils::add_weight_penalty_(run.model, {.l1 = l1, .l2 = l2});
  }
};

// Stops when a loss was NaN or infinite. Checks every `every` steps and at the end of an epoch,
// because a check waits for the device.
class StopOnNaN {
 public:
  explicit StopOnNaN(index_t every = 100);

  void on_step_end(Training& run) const;

 private:
  index_t every_;
};

// Ends the training after the current step on Ctrl-C, SIGTERM or SIGHUP; a second Ctrl-C or SIGTERM
// ends the program. The handlers are installed only while fit() runs. To cover saving too and to
// get an exit status, put an InterruptGuard around it.
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

// Calls scheduler.step(), scheduler.step(metric) (as for ReduceLROnPlateau),
// average.update_parameters(model) (as for AveragedModel) or function(training) after every epoch.
// Stores lvalues by reference.
template <class F>
class EachEpoch {
 public:
  explicit EachEpoch(F&& f, std::optional<Monitor> monitor = std::nullopt)
      : f_(std::forward<F>(f)), monitor_(std::move(monitor)) {}

  template <class R>
  void on_epoch_end(R& run) {
    if constexpr (requires { f_.step(0.0); })
      f_.step(run.value_of(monitor_));
    else if constexpr (requires { f_.step(); })
      f_.step();
    else if constexpr (requires { f_.update_parameters(run.model); })
      f_.update_parameters(run.model);
    else
      f_(run);
  }

  // Writes or reads the state of the scheduler or average, for a checkpoint.
  void visit_state(StateVisitor& state) requires Stateful<std::remove_reference_t<F>> {
    f_.visit_state(state);
  }

 private:
  F f_;
  std::optional<Monitor> monitor_;
};
template <class F>
EachEpoch(F&&) -> EachEpoch<F>;
template <class F>
EachEpoch(F&&, Monitor) -> EachEpoch<F>;

// Calls scheduler.step() or average.update_parameters(model) (as for AveragedModel) after every
// update, or function(training) after every step. Stores lvalues by reference.
template <class F>
class EachStep {
 public:
  // A training: a scheduler and an average do not, a function may.
  static constexpr bool never_stops = requires(F & f) { f.step(); }
  || requires(F& f) { f.module(); };

  explicit EachStep(F&& f) : f_(std::forward<F>(f)) {}

  template <class R>
  void on_step_end(R& run) {
    if constexpr (requires { f_.step(); }) {
      if (run.updated) f_.step();
    } else if constexpr (requires { f_.update_parameters(run.model); }) {
      if (run.updated) f_.update_parameters(run.model);
    } else {
      f_(run);
    }
  }

  // Writes or reads the state of the scheduler or average, for a checkpoint.
  void visit_state(StateVisitor& state) requires Stateful<std::remove_reference_t<F>> {
    f_.visit_state(state);
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
