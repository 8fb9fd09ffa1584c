// How a device runs training steps.
#pragma once

#include <string>

#include <gpunet/model/model.hpp>

namespace gpunet::train {

// Whether steps are replayed from a recording, and if not, why.
struct RecordingStatus {
  bool recorded = false;
  std::string reason = {};  // empty where they are
};

// How a device runs the steps of a model: most run each as it comes. Cuda has a version of its own in step_runner.cuh.
template <class Model, class Loss, class Optimizer, class D = typename Model::device_type>
class StepRunner {
 public:
  StepRunner(Model& model, const Loss& loss, Optimizer& optimizer)
      : model_(model), loss_(loss), optimizer_(optimizer) {}

  void operator()(const View<const typename Model::value_type, D>& inputs,
                  const View<const typename Loss::target_type, D>& targets) {
    model_->begin_step(inputs, loss_, targets);
    model_->run_step(loss_, targets);
    for_each(model_->device(), model_->gradients().size(), optimizer_.next());
  }
  // Whether so many steps were done at once: a device may know how.
  bool repeat(index_t, const View<const typename Model::value_type, D>&,
              const View<const typename Loss::target_type, D>&, typename Model::value_type*) {
    return false;
  }
  // Whether steps on batches of this size are replayed.
  RecordingStatus recording(index_t) const {
    return {false, concat("nothing is recorded on ", model_->device().name())};
  }

 private:
  TrackedPointer<Model> model_;
  Loss loss_;
  Optimizer& optimizer_;
};

}  // namespace gpunet::train
