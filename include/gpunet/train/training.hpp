// The state of a running train::fit() that its parts see, and its result.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/random.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/train/running_loss.hpp>

namespace gpunet::train {

// A number that is measured once per epoch.
enum class Metric { loss, accuracy, val_loss, val_accuracy };

namespace detail {

inline constexpr Metric each_metric[] = {Metric::loss, Metric::accuracy, Metric::val_loss,
                                         Metric::val_accuracy};

}  // namespace detail

// Returns the name as in Keras: "val_loss" and so on.
const char* name_of(Metric metric);
// Returns whether a higher value is better.
inline bool higher_is_better(Metric metric) {
  return metric == Metric::accuracy || metric == Metric::val_accuracy;
}

// A number that a part monitors: a Metric, or a train::Measure by its name, "f1" or of the
// validation "val_f1".
struct Monitor {
  Monitor(Metric metric) : name(name_of(metric)) {}
  Monitor(std::string of_measure) : name(std::move(of_measure)) {}
  Monitor(const char* of_measure) : name(of_measure) {}

  std::string name;
};

// The results of an epoch; NaN if not measured.
struct Epoch {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  index_t number = 0;         // from 1
  index_t steps = 0;          // fewer than the loader has if the training was stopped
  double loss = unknown;      // mean over the samples, before the update of their step
  double accuracy = unknown;  // 0 to 1, likewise
  double val_loss = unknown;  // on the validation set after the epoch
  double val_accuracy = unknown;
  double lr = unknown;  // of the last step
  double seconds = 0;   // including validation
  std::vector<std::pair<std::string, double>> measures =
      {};  // of each train::Measure: name, and with a validation val_name

  // Returns the value of a metric.
  double operator[](Metric metric) const;
  // Returns a number by its name, "val_loss" or that of a train::Measure. Throws Error if there is
  // none.
  double operator[](std::string_view name) const;
};

// Why a training ended.
enum class End { finished, no_improvement, not_finite, interrupted, stopped };

// The best epoch by a number that a part monitors.
struct BestEpoch {
  index_t number = 0;          // from 1
  std::string monitor = {};    // "val_loss"
  double value = 0;            // of it
  std::string weights = {};    // of its weights: "restored", "saved to best.pth"; empty: neither
  const void* part = nullptr;  // address of the EarlyStopping or ModelCheckpoint
};

// What fit() returns.
struct History {
  std::vector<Epoch> epochs;  // the last one may be incomplete
  index_t steps = 0;          // of all epochs
  End end = End::finished;
  std::string why;                   // a sentence; empty if it finished and all losses were finite
  std::vector<BestEpoch> best = {};  // one for each EarlyStopping and, on rank 0, ModelCheckpoint
};

// A running training, as fit() passes it to its parts.
class Training {
 public:
  index_t epochs = 0, epoch = 0;  // number of epochs; the current one, from 1
  // Steps in an epoch; how many of them are done.
  index_t steps = 0, step = 0;
  index_t total_steps = 0;                            // done in all epochs
  bool updated = false;                               // whether the last step ended with an update
  index_t batch_size = 0;                             // 0 if unknown
  bool has_accuracy = false, has_validation = false;  // whether these are measured
  bool trained = false;                               // whether the steps of the epoch are over
  // Whether this process prints, saves and draws: rank 0.
  bool is_main = true;
  Epoch current;  // the current epoch; complete in on_epoch_end
  // Previous epochs; in on_epoch_end the current one too.
  History history;

  Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  GPUNET_INLINE_VIRTUAL virtual ~Training();

  // Return the mean loss of this epoch so far, its accuracy (NaN if not measured), and the index of
  // the first step whose loss was not finite, counted over all epochs from 0 (-1 if none). Each
  // waits for the device.
  virtual double loss() const = 0;
  double accuracy() const { return count_accuracy ? count_accuracy() : Epoch::unknown; }
  virtual index_t first_not_finite() const = 0;
  std::function<double()> count_accuracy;
  GeneratorOption generator;  // of FitOptions

  // Ends the training after the current step or, in on_epoch_end, after this epoch. Later calls are
  // ignored.
  void stop(std::string why) { stop(End::stopped, std::move(why)); }
  void stop(End end, std::string why);
  bool stopped() const { return history.end != End::finished; }

  // Writes or reads how far the training is, and its history, for a checkpoint. A training that was
  // interrupted or stopped by stop(why) goes on.
  void visit_state(StateVisitor& state);

  // Returns the name of the number that a part monitors: `wish`, or the validation loss, or the
  // loss if there is no validation. Throws Error if it is not measured.
  std::string monitored(const std::optional<Monitor>& wish) const;
  // Returns its value after an epoch. Throws Error if it is an accuracy that was not measured.
  double value_of(const std::optional<Monitor>& wish) const;
  // Stores in history.best which epoch first had the best value of a number that `part` monitors.
  // Nothing without a value, or if no epoch is known to have it.
  void note_best(const std::optional<Monitor>& wish, std::optional<double> value,
                 const std::string& weights, const void* part = nullptr);
};

// A Training with its model and optimizer, for parts that need them.
template <class Model, class Optimizer>
class Run : public Training {
 public:
  Run(Model& run_model, Optimizer& run_optimizer)
      : model(run_model),
        optimizer(run_optimizer),
        running_loss(run_model.device()),
        validated(&run_model) {}

  double loss() const override { return running_loss.item(); }
  index_t first_not_finite() const override { return running_loss.first_not_finite(); }

  // Writes or reads how far the training is, for a checkpoint.
  void visit_state(StateVisitor& state) {
    Training::visit_state(state);
    state.part("running_loss", running_loss);
  }

  // Returns the model that a monitored number is of.
  Model& model_of(const std::optional<Monitor>& wish) const {
    return monitored(wish).substr(0, 4) == "val_" ? *validated : model;
  }

  Model& model;                                           // being trained
  Optimizer& optimizer;                                   // of the model
  RunningLoss<typename Model::device_type> running_loss;  // of the current epoch
  // Model, or the one that train::Validation measures.
  Model* validated;
};

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/training.ipp>
#endif
