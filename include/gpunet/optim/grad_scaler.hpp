// Loss scaling for training with float16.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/model/output.hpp>
#include <gpunet/optim/optimizer.hpp>

namespace gpunet::amp {

// Options of torch.amp.GradScaler.
struct GradScalerOptions {
  double init_scale = 65536;  // the first scale, above 0
  // Of the scale after growth_interval steps in a row without overflow, above 1.
  double growth_factor = 2;
  // Of the scale after a step with infinite or NaN gradients, 0 to 1.
  double backoff_factor = 0.5;
  index_t growth_interval = 2000;  // 1 or more
  // false: scale(), unscale_() and update() do nothing, step() is the optimizer's.
  bool enabled = true;
};

// The state of a GradScaler, to be stored with a checkpoint.
struct GradScalerState {
  double scale, growth_factor, backoff_factor;
  // growth_tracker: steps without overflow since the scale has changed.
  index_t growth_interval, growth_tracker;

  bool operator==(const GradScalerState&) const = default;
};

// A loss times a scale: the result of GradScaler::scale.
template <class D, class T>
class ScaledLoss {
 public:
  ScaledLoss(const LossValue<D, T>& loss, double scale) : loss_(loss), scale_(scale) {}

  // Runs the backward pass of the scaled loss: see LossValue::backward.
  void backward(double gradient = 1) const { loss_.backward(gradient * scale_); }
  // Returns the scaled loss; waits for the device.
  T item() const { return loss_.item() * static_cast<T>(scale_); }

 private:
  LossValue<D, T> loss_;
  double scale_;
};

namespace detail {

// Multiplies ranges of the gradients by a factor. Returns whether any was infinite or NaN; waits
// for the device. For a caller that has exclusive_use().
template <class D, class T>
bool unscale(Network<D, T>& model, std::span<const ArenaRange> ranges, double factor);

}  // namespace detail

// Scales the loss so that gradients do not underflow in float16, skips steps whose gradients
// overflowed, and adapts the scale. As torch.amp.GradScaler:
//   net.autocast(Storage::float16);
//   amp::GradScaler scaler;
//   ...
//   optimizer.zero_grad();
//   auto loss = criterion(net(inputs), labels);
//   scaler.scale(loss).backward();
//   scaler.unscale_(optimizer);  // only to clip or read the gradients; others are still scaled
//   nn::utils::clip_grad_norm_(optimizer.parameters(), 1);
//   scaler.step(optimizer);
//   scaler.update();
// train::Step and train::fit do the same with {.scaler = &scaler}. Networks with other storage need
// no scale.
class GradScaler {
 public:
  // Throws Error for an invalid option.
  explicit GradScaler(const GradScalerOptions& options = {});

  // Returns the loss times the scale. Throws Error for a network that does not store float16.
  template <class D, class T>
  ScaledLoss<D, T> scale(const LossValue<D, T>& loss) const {
    return {loss, scale_of(loss.storage())};
  }
  // Returns the scale for a network with this storage. Throws Error for another one than float16.
  double scale_of(Storage storage) const;

  // Divides the gradients that an optimizer uses by the scale, between the backward pass and
  // step(). Waits for the device. Throws Error for a second call since update(), and without
  // gradients.
  template <class Self, class D, class T, std::size_t N>
  void unscale_(optim::Optimizer<Self, D, T, N>& optimizer) {
    const auto use = optimizer.model().exclusive_use();
    unscale_in_use(optimizer, "unscale_");
  }

  // Runs unscale_() unless it was called, then optimizer.step() if all gradients are finite.
  // Returns whether it did. Throws Error for a second call since update().
  template <class Self, class D, class T, std::size_t N>
  bool step(optim::Optimizer<Self, D, T, N>& optimizer) {
    const auto use = optimizer.model().exclusive_use();
    return step_in_use(optimizer);
  }
  // The same for a caller that has exclusive_use().
  template <class Self, class D, class T, std::size_t N>
  bool step_in_use(optim::Optimizer<Self, D, T, N>& optimizer) {
    if (options_.enabled) {
      OfOptimizer& of = state_of(optimizer);
      require_not_stepped(of);
      if (of.stage == Stage::ready) unscale_in_use(optimizer, "step");
      of.stage = Stage::stepped;
      skipped_ = of.found_inf;
    }
    if (!skipped_ && !optimizer.model().gradients().zeroed()) optimizer.update_parameters();
    return !skipped_;
  }
  // Refuses other optimizers. A compile error.
  template <class Optimizer>
  requires(!requires(Optimizer & optimizer) {
    optimizer.update_parameters();
  }) bool step(Optimizer&) {
    static_assert(std::is_void_v<Optimizer>,
                  "gpunet::amp::GradScaler::step: this optimizer makes no update from one "
                  "evaluation of the loss (LBFGS needs several, whose gradients this cannot "
                  "scale), use another optimizer, or Storage::bfloat16 without a scaler");
    return false;
  }

  // Adapts the scale after the steps of all optimizers: times backoff_factor if gradients of one
  // overflowed, times growth_factor after growth_interval steps without. The tenth time in a row
  // that gradients overflowed, a sentence on stderr says so. Throws Error if there was no step.
  void update();
  // Sets the scale instead. Throws Error unless it is above 0 and finite as a float.
  void update(double new_scale);

  // Forgets calls of unscale_() and step() since update(), such as those before an exception; the
  // scale stays. train::Step and train::fit begin with it.
  void begin_step() { optimizers_.clear(); }

  // Returns whether the last step() changed nothing, because gradients were infinite or NaN.
  bool skipped() const { return skipped_; }
  bool is_enabled() const { return options_.enabled; }

  // Return and set the numbers of the options, and the current scale (1 if disabled). Setting
  // throws Error for invalid ones.
  double get_scale() const { return options_.enabled ? double{scale_} : 1; }
  double get_growth_factor() const { return options_.growth_factor; }
  double get_backoff_factor() const { return options_.backoff_factor; }
  index_t get_growth_interval() const { return options_.growth_interval; }
  void set_growth_factor(double factor);
  void set_backoff_factor(double factor);
  void set_growth_interval(index_t interval);

  // Return the state after update(), and set it. Loading throws Error for invalid numbers.
  GradScalerState state_dict() const {
    return {scale_, options_.growth_factor, options_.backoff_factor, options_.growth_interval,
            growth_tracker_};
  }
  void load_state_dict(const GradScalerState& state);

  // Writes or reads the scale, for a checkpoint after update().
  void visit_state(StateVisitor& state);

 private:
  enum class Stage { ready, unscaled, stepped };
  struct OfOptimizer {
    TrackedPointer<const optim::Rates> optimizer;
    Stage stage = Stage::ready;
    bool found_inf = false;
  };

  // Returns the state of an optimizer since update().
  OfOptimizer& state_of(const optim::Rates& optimizer);
  static void require_not_stepped(const OfOptimizer& of);
  static void require_unscalable(const OfOptimizer& of, bool has_gradients, const char* where);
  static void check(const GradScalerOptions& options, const char* where);

  template <class Self, class D, class T, std::size_t N>
  void unscale_in_use(optim::Optimizer<Self, D, T, N>& optimizer, const char* where) {
    if (!options_.enabled) return;
    OfOptimizer& of = state_of(optimizer);
    Network<D, T>& model = optimizer.model();
    require_unscalable(of, !model.gradients().zeroed(), where);
    std::vector<ArenaRange> ranges;
    for (const optim::Segment& segment : optimizer.segments())
      ranges.insert(ranges.end(), segment.ranges.begin(), segment.ranges.end());
    of.found_inf = detail::unscale(model, ranges, 1 / double{scale_});
    of.stage = Stage::unscaled;
  }

  GradScalerOptions options_;
  float scale_;
  index_t growth_tracker_ = 0;
  index_t falls_ = 0;  // of the scale in a row
  bool skipped_ = false;
  std::vector<OfOptimizer> optimizers_;  // since update()
};

#define GPUNET_UNSCALE(D, T) \
  bool detail::unscale(Network<D, T>&, std::span<const ArenaRange>, double)
GPUNET_EXTERN_TEMPLATES(GPUNET_UNSCALE)

}  // namespace gpunet::amp

#if !GPUNET_COMPILED
#include <gpunet/optim/grad_scaler.ipp>
#endif
