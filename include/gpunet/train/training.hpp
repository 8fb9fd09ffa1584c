// A training as its parts see it, and what comes out of it.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/train/running_loss.hpp>

namespace gpunet::train {

// What is measured once an epoch.
enum class Metric { loss, accuracy, val_loss, val_accuracy };

// "val_loss" and so on, as Keras calls them.
const char* name_of(Metric metric);
// Whether more is better.
inline bool higher_is_better(Metric metric) {
  return metric == Metric::accuracy || metric == Metric::val_accuracy;
}

// What came out of an epoch; NaN where nobody measured.
struct Epoch {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  index_t number = 0;         // from 1
  index_t steps = 0;          // fewer than the loader has where the training was stopped
  double loss = unknown;      // the mean over the samples, each as it was when its step began
  double accuracy = unknown;  // 0 to 1, the same way
  double val_loss = unknown;  // of the validation set after the epoch
  double val_accuracy = unknown;
  double lr = unknown;  // of the last step
  double seconds = 0;   // validation included

  // The number that a metric names.
  double operator[](Metric metric) const;
};

// Why a training ended.
enum class End { finished, no_improvement, not_finite, interrupted, stopped };

// What fit() returns.
struct History {
  std::vector<Epoch> epochs;  // the last one may have been stopped in the middle
  index_t steps = 0;          // of all epochs
  End end = End::finished;
  std::string why;  // in words; empty where it finished and all losses were finite
};

// A training under way: what fit() hands to its parts.
class Training {
 public:
  index_t epochs = 0, epoch = 0;                      // of how many; which one it is, from 1
  index_t steps = 0, step = 0;                        // in an epoch; how many of these are done
  index_t total_steps = 0;                            // done in all epochs
  index_t batch_size = 0;                             // 0 where nobody knows
  bool has_accuracy = false, has_validation = false;  // what an epoch will tell
  Epoch current;                                      // the running epoch; complete in on_epoch_end
  History history;                                    // of the epochs before, and in on_epoch_end of this one too

  Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  virtual ~Training();

  // The mean loss of this epoch so far, its accuracy (NaN where nobody counts), and the number of the first of all steps,
  // from 0, whose loss was not finite (-1 if none). Each waits for the device.
  virtual double loss() const = 0;
  double accuracy() const { return count_accuracy ? count_accuracy() : Epoch::unknown; }
  virtual index_t first_not_finite() const = 0;
  std::function<double()> count_accuracy;

  // Ends the training after the running step or, from on_epoch_end, this epoch. The first reason counts.
  void stop(std::string why) { stop(End::stopped, std::move(why)); }
  void stop(End end, std::string why);
  bool stopped() const { return history.end != End::finished; }

  // What a part watches: by default the validation loss, or the loss where there is no validation. Throws Error for what
  // nobody measures.
  Metric monitored(std::optional<Metric> wish) const;
};

// The same with its model and optimizer, for parts that want them.
template <class Model, class Optimizer>
class Run : public Training {
 public:
  Run(Model& run_model, Optimizer& run_optimizer)
      : model(run_model), optimizer(run_optimizer), running_loss(run_model.device()) {}

  double loss() const override { return running_loss.item(); }
  index_t first_not_finite() const override { return running_loss.first_not_finite(); }

  Model& model;                                           // in training
  Optimizer& optimizer;                                   // the model's
  RunningLoss<typename Model::device_type> running_loss;  // of the running epoch
};

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/training.ipp>
#endif
