// Measures the parts of a training step.
#pragma once

#include <string>

#include <gpunet/data/dataloader.hpp>
#include <gpunet/train/progress.hpp>
#include <gpunet/train/step.hpp>

namespace gpunet::train {

// Mean times of a training step, in seconds.
struct StepTimes {
  double waiting = 0;    // for the batch
  double copying = 0;    // until the batch is on the device, as floats; about 0 on Host
  double computing = 0;  // forward, loss, backward and update
  index_t steps = 0;     // that were measured

  double total() const { return waiting + copying + computing; }
};

// Returns "0.303 ms: 10.2 % waiting, 0.0 % copying, 89.8 % computing"
std::string to_string(const StepTimes& times);

// Options of profile().
struct ProfileOptions {
  index_t steps = 10;   // to measure; fewer if the epoch ends
  index_t warm_up = 1;  // steps before them, which allocate memory and start workers
};

// Trains for some steps of one epoch and returns the times of their parts. It waits for the device
// after each part, while a normal training on a GPU overlaps them. A smaller last batch is not
// measured. Throws Error if no step could be measured.
template <class Model, class Loss, class Optimizer, class Target>
StepTimes profile(Model& model, const Loss& criterion, Optimizer& optimizer,
                  const data::DataLoader<Target>& loader, const ProfileOptions& options = {}) {
  require(options.steps >= 1 && options.warm_up >= 0, "gpunet::train::profile: ", options.steps,
          " steps after ", options.warm_up,
          " (want 1 or more after 0 or more), give .steps and .warm_up that make a measurement");
  auto& device = model.device();
  Step step(model, criterion, optimizer);
  StepTimes times;
  index_t full = 0;
  double begin = detail::steady_seconds();
  for (auto [inputs, targets] : loader.to(device)) {
    const double there = detail::steady_seconds();
    device.synchronize();
    const double copied = detail::steady_seconds();
    step(inputs, targets);
    device.synchronize();
    if (inputs.size(0) == loader.options().batch_size && ++full > options.warm_up) {
      times.waiting += there - begin;
      times.copying += copied - there;
      times.computing += detail::steady_seconds() - copied;
      if (++times.steps == options.steps) break;
    }
    begin = detail::steady_seconds();
  }
  require(times.steps > 0, "gpunet::train::profile: ", full,
          " full batches in an epoch, all of them to warm up (want ", options.warm_up + 1,
          " or more), give a larger set or a smaller batch_size");
  for (double* part : {&times.waiting, &times.copying, &times.computing})
    *part /= static_cast<double>(times.steps);
  return times;
}

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/profile.ipp>
#endif
