// The one-cycle learning rate schedule.
#pragma once

#include <array>
#include <vector>

#include <gpunet/optim/lr_scheduler.hpp>

namespace gpunet::optim::lr_scheduler {

// How a value goes from one number to another: along half a cosine wave, or linearly.
enum class Anneal { cos, linear };

// Options of torch.optim.lr_scheduler.OneCycleLR.
struct OneCycleLROptions {
  double max_lr = 0;                        // the highest learning rate
  index_t total_steps = 0;                  // of the whole training; or, instead,
  index_t epochs = 0, steps_per_epoch = 0;  // total_steps = epochs * steps_per_epoch
  // The share of steps in which the learning rate rises.
  double pct_start = 0.3;
  Anneal anneal_strategy = Anneal::cos;  // how it rises and falls
  // Whether the momentum falls while the learning rate rises.
  bool cycle_momentum = true;
  double base_momentum = 0.85, max_momentum = 0.95;  // the range of the momentum
  // From max_lr / div_factor; to that / final_div_factor.
  double div_factor = 25, final_div_factor = 1e4;
  // Falls as long as it rises; a third phase goes far down.
  bool three_phase = false;
};

// Raises the learning rate from max_lr / div_factor to max_lr in the first pct_start of all steps,
// then lowers it far below, one step per batch; the momentum (the first beta of Adam) moves the
// other way (Smith and Topin 2018):
//   OneCycleLR scheduler(optimizer,
//                        {.max_lr = 0.01, .epochs = 10, .steps_per_epoch = loader.size()});
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Rates& optimizer, const OneCycleLROptions& options);

 private:
  // A phase lasts from the end of the phase before to its own, in steps. Values go from the first
  // to the second.
  struct Phase {
    double end;
    std::array<double, 2> lr, momentum;
  };

  static constexpr const char* name = "lr_scheduler::OneCycleLR";

  static index_t steps_of(const OneCycleLROptions& options);

  // Called before anything is changed.
  static void check(const OneCycleLROptions& options);

  static Rates& with_initial_lr(Rates& rates, const OneCycleLROptions& options);

  GPUNET_INLINE_VIRTUAL double first() override;
  GPUNET_INLINE_VIRTUAL double next() override;

  double between(const std::array<double, 2>& values, double part) const;

  OneCycleLROptions options_;
  index_t total_steps_;
  std::vector<Phase> phases_;
};

}  // namespace gpunet::optim::lr_scheduler

#if !GPUNET_COMPILED
#include <gpunet/optim/one_cycle_lr.ipp>
#endif
