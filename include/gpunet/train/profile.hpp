// Where the time of a training step goes.
#pragma once

#include <string>

#include <gpunet/data/dataloader.hpp>
#include <gpunet/train/progress.hpp>
#include <gpunet/train/step.hpp>

namespace gpunet::train {

// Seconds of one step, the mean of several.
struct StepTimes {
  double waiting = 0;  // until the batch was there
  double copying =
      0;  // until it was on the device, as floats; next to nothing on the processor, which computes where it is
  double computing = 0;  // forward, loss, backward and update
  index_t steps = 0;     // how many were measured

  double total() const { return waiting + copying + computing; }
};

// "0.303 ms: 10.2 % waiting, 0.0 % copying, 89.8 % computing"
std::string to_string(const StepTimes& times);

// How long is measured.
struct ProfileOptions {
  index_t steps = 10;   // at most: an epoch may have fewer
  index_t warm_up = 1;  // steps before those, which make room and start the workers
};

// Trains for some steps of one epoch and measures their parts, each after the one before is done; a training on a GPU lets
// them overlap. A short batch at the end of the epoch is not measured. Throws Error for fewer steps than one.
template <class Model, class Loss, class Optimizer>
StepTimes profile(Model& model, const Loss& criterion, Optimizer& optimizer, const data::DataLoader& loader,
                  const ProfileOptions& options = {}) {
  require(options.steps >= 1 && options.warm_up >= 0, "gpunet::train::profile: ", options.steps, " steps behind ",
          options.warm_up, " (want 1 or more behind 0 or more), give .steps and .warm_up that make a measurement");
  auto& device = model.device();
  Step step(model, criterion, optimizer);
  StepTimes times;
  index_t full = 0;
  double begin = detail::steady_seconds();
  for (auto [inputs, labels] : loader.to(device)) {
    const double there = detail::steady_seconds();
    device.synchronize();
    const double copied = detail::steady_seconds();
    step(inputs, labels);
    device.synchronize();
    if (labels.numel() == loader.options().batch_size && ++full > options.warm_up) {
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
