// Parts of a training that watch a metric.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/model/save_load.hpp>
#include <gpunet/train/training.hpp>

namespace gpunet::train {

// The best of the values so far. What is not a number never is.
class Best {
 public:
  // Whether a value is better, by more than min_delta, than the best before it; it is the best then.
  bool step(double value, bool higher_is_better, double min_delta = 0) {
    const double gain = higher_is_better ? value - best_ : best_ - value;
    const bool better = empty_ ? !std::isnan(value) : gain > min_delta;
    if (better) best_ = value, empty_ = false;
    return better;
  }

 private:
  double best_ = 0;
  bool empty_ = true;
};

// What counts as an improvement, and how long one is waited for.
struct EarlyStoppingOptions {
  index_t patience = 3;                          // epochs without improvement after which it stops; 0 is as 1
  double min_delta = 0;                          // less than this, or as much, is no improvement
  std::optional<Metric> monitor = std::nullopt;  // val_loss or, without validation, loss
};

// Stops when a metric has not become better for some epochs, as Keras' and Lightning's do. In a loop of your own:
//   if (early_stopping.step(val_loss)) break;
class EarlyStopping {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options = {}) : options_(options) {
    require(options.patience >= 0, "gpunet::train::EarlyStopping: a patience of ", options.patience,
            " epochs (want 0 or more)");
    require(options.min_delta >= 0, "gpunet::train::EarlyStopping: min_delta ", options.min_delta,
            " (want 0 or more)");
  }

  // Whether to stop, now that the metric is this: a loss, unless `monitor` says otherwise.
  bool step(double value) {
    waited_ = best_.step(value, higher_is_better(options_.monitor.value_or(Metric::loss)), options_.min_delta)
                  ? 0
                  : waited_ + 1;
    return waited_ > 0 && waited_ >= options_.patience;
  }

  void on_fit_begin(Training& run) {
    best_ = {};
    waited_ = 0;
    (void)run.monitored(options_.monitor);
  }
  void on_epoch_end(Training& run) {
    const Metric metric = run.monitored(options_.monitor);
    if (step(run.current[metric]))
      run.stop(End::no_improvement, concat(name_of(metric), " did not get better in ", waited_, " epochs"));
  }

 private:
  EarlyStoppingOptions options_;
  Best best_;
  index_t waited_ = 0;
};

// Which epochs are kept.
struct ModelCheckpointOptions {
  bool save_best_only = true;                    // else after every epoch
  std::optional<Metric> monitor = std::nullopt;  // val_loss or, without validation, loss
};

// Saves the model, as io::save does, after each epoch that is the best so far. In a loop of your own:
//   checkpoint.step(net, val_loss);
class ModelCheckpoint {
 public:
  // Throws Error if the file cannot be written, or its name ends as io::save refuses it: now, and not after the first hour.
  explicit ModelCheckpoint(std::string path, const ModelCheckpointOptions& options = {})
      : path_(std::move(path)), options_(options) {
    io::written_format(path_);
    const io::AtomicFile probe(path_);
  }

  // Whether it saved the model, whose metric is this: a loss, unless `monitor` says otherwise.
  template <class Model>
  bool step(const Model& model, double value) {
    const bool better = best_.step(value, higher_is_better(options_.monitor.value_or(Metric::loss)));
    if (better || !options_.save_best_only) io::save(model, path_);
    return better || !options_.save_best_only;
  }

  void on_fit_begin(Training& run) {
    best_ = {};
    (void)run.monitored(options_.monitor);
  }
  template <class Model, class Optimizer>
  void on_epoch_end(Run<Model, Optimizer>& run) {
    step(run.model, run.current[run.monitored(options_.monitor)]);
  }

 private:
  std::string path_;
  ModelCheckpointOptions options_;
  Best best_;
};

}  // namespace gpunet::train
