// A learning rate schedule driven by a metric.
#pragma once

#include <limits>

#include <gpunet/core/config.hpp>
#include <gpunet/optim/rates.hpp>

namespace gpunet::optim::lr_scheduler {

// Whether a lower or a higher metric is better.
enum class Mode { min, max };
// Whether the threshold is relative to the best metric so far, or absolute.
enum class ThresholdMode { rel, abs };

// Options of torch.optim.lr_scheduler.ReduceLROnPlateau.
struct ReduceLROnPlateauOptions {
  Mode mode = Mode::min;  // min: for a loss
  double factor = 0.1;    // multiplies the learning rate; below 1
  // Steps without improvement before it is lowered.
  index_t patience = 10;
  double threshold = 1e-4;                            // the smallest improvement that counts
  ThresholdMode threshold_mode = ThresholdMode::rel;  // whether the threshold is relative
  index_t cooldown = 0;                               // steps after a change that are not counted
  double min_lr = 0;                                  // the lowest learning rate
  double eps = 1e-8;                                  // smaller changes are skipped
};

// Multiplies the learning rate by factor when a metric (such as a validation loss) has not improved
// by the threshold for more than `patience` steps:
//   ReduceLROnPlateau scheduler(optimizer, {.patience = 5});
//   ... scheduler.step(loss);
class ReduceLROnPlateau {
 public:
  // The optimizer must outlive it.
  explicit ReduceLROnPlateau(Rates& optimizer, const ReduceLROnPlateauOptions& options = {});
  ReduceLROnPlateau(const ReduceLROnPlateau&) = delete;
  ReduceLROnPlateau& operator=(const ReduceLROnPlateau&) = delete;

  // Takes the metric of an epoch, and may change the learning rate.
  void step(double metric);

  // Returns the learning rate after the last step.
  double get_last_lr() const { return last_lr_; }

  // Writes or reads where it is, for a checkpoint. The rates are in that of the optimizer.
  void visit_state(StateVisitor& state);

 private:
  bool is_better(double metric) const;

  TrackedPointer<Rates> rates_;
  ReduceLROnPlateauOptions options_;
  double last_lr_;
  double best_ = options_.mode == Mode::min ? std::numeric_limits<double>::infinity()
                                            : -std::numeric_limits<double>::infinity();
  index_t bad_epochs_ = 0, cooldown_ = 0;
};

}  // namespace gpunet::optim::lr_scheduler

#if !GPUNET_COMPILED
#include <gpunet/optim/reduce_lr_on_plateau.ipp>
#endif
