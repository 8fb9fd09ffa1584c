// A whole training step at once.
#pragma once

#include <gpunet/model/model.hpp>
#include <gpunet/train/step_runner.hpp>

#if GPUNET_CUDA  // here, so that every unit has the same version for Cuda
#include <gpunet/train/step_runner.cuh>
#endif

namespace gpunet::train {

// Forward, loss, backward and update as one object so that a device may run the step in the order that suits it: Host slice by slice through the whole network, Cuda as one graph that
// is recorded once for each batch size (see recording()). The same numbers as
//   optimizer.zero_grad(); auto loss = criterion(net(inputs), labels); loss.backward(); optimizer.step();
template <class D, class T, class Loss, class Optimizer>
class Step {
  using Inputs = ViewArgument<T, D>;
  using Targets = ViewArgument<typename Loss::target_type, D>;

 public:
  // Model and optimizer, which is the model's, must outlive the step (and may be moved).
  Step(Network<D, T>& model, const Loss& loss, Optimizer& optimizer) : model_(model), run_(model, loss, optimizer) {
    require(
        &optimizer.model() == &model,
        "gpunet::train::Step: the optimizer is that of another model (this one would not learn), make one for it");
  }
  // The same; refuses, when it is compiled, a loss that wants outputs of another shape.
  template <class Net>
  Step(Model<Net, D, T>& model, const Loss& loss, Optimizer& optimizer)
      : Step(static_cast<Network<D, T>&>(model), loss, optimizer) {
    Loss::check_shape(typename Model<Net, D, T>::OutputShape{});
  }

  // inputs [batch, ...], targets [batch]; returns the mean loss before the update.
  LossValue<D, T> operator()(const Inputs& inputs, const Targets& targets) {
    const ModelUse::Exclusive use = model_->exclusive_use();
    return step(inputs, targets);
  }

  // So many steps on the same batch, as when the whole data set is one; returns their losses, [times]. Where the
  // network and the batch are small, Cuda takes one launch for up to 1024 of them.
  Tensor<T, D> repeat(index_t times, const Inputs& inputs, const Targets& targets) {
    require(times >= 1, "gpunet::train::Step::repeat: ", times, " steps (want 1 or more)");
    const ModelUse::Exclusive use = model_->exclusive_use();
    Tensor<T, D> losses(model_->device(), {times});
    model_->zero_grad();
    if (run_.repeat(times, inputs, targets, losses.data()))
      model_->end_step();
    else
      for (index_t i = 0; i < times; ++i)
        model_->device().copy(losses.data() + i, step(inputs, targets).data(), sizeof(T));
    return losses;
  }

  // Returns whether steps on batches of this size, in the model's present mode, are replayed from a recording, which takes
  // Cuda two launches each, and if not, why. Where a layer does in a step what cannot be recorded (it allocates, or waits
  // for the device), the steps of that batch size run eagerly: slower, with the same numbers.
  RecordingStatus recording(index_t batch_size) const { return run_.recording(batch_size); }

 private:
  LossValue<D, T> step(const Inputs& inputs, const Targets& targets) {
    model_->zero_grad();
    run_(inputs, targets);
    return model_->end_step();
  }

  TrackedPointer<Network<D, T>> model_;
  StepRunner<D, T, Loss, Optimizer> run_;
};

}  // namespace gpunet::train
