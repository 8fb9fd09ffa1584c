// Runs training steps on a device.
#pragma once

#include <string>

#include <gpunet/optim/optimizer.hpp>

namespace gpunet::train {

// Whether steps are replayed from a recording.
struct RecordingStatus {
  bool recorded = false;
  std::string reason = {};  // why they are not; empty if they are
};

// Runs the steps of a model one by one. Cuda has its own version, step_runner.cuh.
template <class D, class T, class Loss, class Optimizer>
class StepRunner {
  using Target = typename Loss::target_type;

 public:
  StepRunner(Network<D, T>& model, const Loss& loss, Optimizer& optimizer)
      : model_(model), loss_(loss), optimizer_(optimizer) {}

  void operator()(const View<const T, D>& inputs, const View<const Target, D>& targets) {
    auto& optimizer = static_cast<Optimizer&>(*optimizer_);
    const TargetsOf<D, T> with(loss_, targets);
    model_->begin_step(inputs, with);
    model_->run_step(with);
    optimizer.update_parameters();
  }
  // Runs `times` steps on a batch if the device can do so in one call; returns whether it did.
  bool repeat(index_t, const View<const T, D>&, const View<const Target, D>&, T*) { return false; }
  // Returns whether steps on batches of this size are replayed.
  RecordingStatus recording(index_t) const {
    return {false, concat("nothing is recorded on ", model_->device().name())};
  }

 private:
  TrackedPointer<Network<D, T>> model_;
  Loss loss_;
  TrackedPointer<optim::Rates> optimizer_;
};

}  // namespace gpunet::train
