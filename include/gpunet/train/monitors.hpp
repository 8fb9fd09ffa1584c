// Parts of a training that watch a metric.
#pragma once

#include <optional>
#include <string>

#include <gpunet/model/save_load.hpp>
#include <gpunet/train/training.hpp>

namespace gpunet::train {

// The best of the values so far. What is not a number never is.
class Best {
 public:
  // Returns whether the value is better than the best so far by more than min_delta, and keeps it if so.
  bool step(double value, bool higher_is_better, double min_delta = 0);

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
  explicit EarlyStopping(const EarlyStoppingOptions& options = {});

  // Whether to stop, now that the metric has this value. It is a loss unless `monitor` says otherwise.
  bool step(double value);

  void on_fit_begin(Training& run);
  void on_epoch_end(Training& run);

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
  explicit ModelCheckpoint(std::string path, const ModelCheckpointOptions& options = {});

  // Whether it saved the model, whose metric is this: a loss, unless `monitor` says otherwise.
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

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/monitors.ipp>
#endif
