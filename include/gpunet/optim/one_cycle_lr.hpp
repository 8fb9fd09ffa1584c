// The one-cycle learning rate schedule.
#pragma once

#include <array>
#include <utility>

#include <gpunet/optim/lr_scheduler.hpp>

namespace gpunet::optim::lr_scheduler {

// How a value goes from one number to another: along half a cosine wave, or linearly.
enum class Anneal { cos, linear };

// Options of torch.optim.lr_scheduler.OneCycleLR.
struct OneCycleLROptions {
  double max_lr = 0;                                 // the highest learning rate
  index_t total_steps = 0;                           // of the whole training; or, instead,
  index_t epochs = 0, steps_per_epoch = 0;           // total_steps = epochs * steps_per_epoch
  double pct_start = 0.3;                            // the share of steps in which the learning rate rises
  Anneal anneal_strategy = Anneal::cos;              // how it rises and falls
  bool cycle_momentum = true;                        // whether the momentum falls while the learning rate rises
  double base_momentum = 0.85, max_momentum = 0.95;  // the range of the momentum
  double div_factor = 25, final_div_factor = 1e4;    // from max_lr / div_factor; to that / final_div_factor
  bool three_phase = false;                          // falls as long as it rises; a third phase goes far down
};

// Raises the learning rate from max_lr / div_factor to max_lr in the first pct_start of all steps, then lowers it far
// below, one step per batch; the momentum (the first beta of Adam) moves the other way (Smith and Topin 2018):
//   OneCycleLR scheduler(optimizer, {.max_lr = 0.01, .epochs = 10, .steps_per_epoch = loader.size()});
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Rates& optimizer, const OneCycleLROptions& options)
      : LRScheduler(with_initial_lr(optimizer, options)), options_(options), total_steps_(steps_of(options)) {
    const double low = base_lr_, high = options.max_lr, least = low / options.final_div_factor;
    const double fast = options.max_momentum, slow = options.base_momentum;
    const double steps = static_cast<double>(total_steps_), up = options.pct_start * steps - 1;
    if (options.three_phase)
      phases_ = {{up, {low, high}, {fast, slow}},
                 {2 * options.pct_start * steps - 2, {high, low}, {slow, fast}},
                 {steps - 1, {low, least}, {fast, fast}}};
    else
      phases_ = {{up, {low, high}, {fast, slow}}, {steps - 1, {high, least}, {slow, fast}}};
    begin();
  }

 private:
  // A phase lasts from the end of the phase before to its own, in steps. Values go from the first to the second.
  struct Phase {
    double end;
    std::array<double, 2> lr, momentum;
  };

  static constexpr const char* name = "lr_scheduler::OneCycleLR";

  static index_t steps_of(const OneCycleLROptions& options) {
    if (options.total_steps != 0) {
      require_option(options.total_steps >= 1 && options.total_steps <= most_steps, name, "total_steps",
                     options.total_steps, "1 to 2^53");
      return options.total_steps;
    }
    require(options.epochs >= 1 && options.steps_per_epoch >= 1 &&
                options.epochs <= most_steps / options.steps_per_epoch,
            "gpunet::optim::lr_scheduler::OneCycleLR: ", options.epochs, " epochs of ", options.steps_per_epoch,
            " steps (want total_steps, or epochs and steps_per_epoch, of 1 or more, and 2^53 steps at most)");
    return options.epochs * options.steps_per_epoch;
  }

  // Called before anything is changed.
  static void check(const OneCycleLROptions& options) {
    steps_of(options);
    for (const auto& [what, value] :
         {std::pair("max_lr", options.max_lr), std::pair("div_factor", options.div_factor),
          std::pair("final_div_factor", options.final_div_factor)})
      require_option(value > 0 && std::isfinite(value), name, what, value, "more than 0, and finite");
    require_option(options.pct_start >= 0 && options.pct_start <= 1, name, "pct_start", options.pct_start,
                   "0 to 1");
    for (double momentum : {options.base_momentum, options.max_momentum})
      require_option(momentum >= 0 && momentum < 1, name, "momentum", momentum, "0 or more and less than 1");
  }

  static Rates& with_initial_lr(Rates& rates, const OneCycleLROptions& options) {
    check(options);
    rates.set_initial_lr(options.max_lr / options.div_factor);
    return rates;
  }

  double first() override { return next(); }
  double next() override {
    require(last_epoch() <= total_steps_, "gpunet::optim::lr_scheduler::OneCycleLR: tried to step ", last_epoch(),
            " times, the total number of steps is ", total_steps_,
            ", make the schedule for all steps of the training");
    const double step = static_cast<double>(last_epoch());
    double start = 0;
    std::size_t i = 0;
    for (; i + 1 < phases_.size() && step > phases_[i].end; ++i)
      start = phases_[i].end;
    const Phase& phase = phases_[i];
    require(phase.end != start,
            "gpunet::optim::lr_scheduler::OneCycleLR: a phase without steps: choose another "
            "pct_start or more steps");
    const double part = (step - start) / (phase.end - start);
    if (options_.cycle_momentum) rates_->set_momentum(between(phase.momentum, part));
    return std::max(between(phase.lr, part), 0.0);  // the step after the last may be below 0
  }

  double between(const std::array<double, 2>& values, double part) const {
    const auto [from, to] = values;
    if (options_.anneal_strategy == Anneal::linear) return (to - from) * part + from;
    return to + (from - to) / 2.0 * (std::cos(std::numbers::pi * part) + 1);
  }

  OneCycleLROptions options_;
  index_t total_steps_;
  std::vector<Phase> phases_;
};

}  // namespace gpunet::optim::lr_scheduler
