// Runs training steps on a device.
#pragma once

#include <memory>
#include <string>

#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/nn/cross_entropy_loss.hpp>
#include <gpunet/optim/adam.hpp>
#include <gpunet/optim/rmsprop.hpp>
#include <gpunet/optim/sgd.hpp>

namespace gpunet::train {

// Whether steps are replayed from a recording.
struct RecordingStatus {
  bool recorded = false;
  std::string reason = {};  // why they are not; empty if they are
};

// Runs the steps of a model one by one. Cuda has its own version below.
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

#if GPUNET_CUDA

namespace detail {

// Whether the compiled library has the steps: those with the losses and optimizers of gpunet.
template <class Loss, class Optimizer>
inline constexpr bool is_compiled_step = false;
template <class T>
inline constexpr bool is_compiled_step<nn::CrossEntropyLoss, optim::SGD<Cuda, T>> = true;
template <class T>
inline constexpr bool is_compiled_step<nn::CrossEntropyLoss, optim::Adam<Cuda, T>> = true;
template <class T>
inline constexpr bool is_compiled_step<nn::CrossEntropyLoss, optim::RMSprop<Cuda, T>> = true;

}  // namespace detail

// Steps of one batch size submit the same work each time, except for the batch and the optimizer's numbers (such as the
// learning rate), which are first copied to fixed addresses. So the second step of a batch size is recorded as a graph, and
// each later step takes two launches. Steps are recorded again if the model's memory has moved. A batch size that cannot be
// recorded stays eager.
template <class T, class Loss, class Optimizer>
class StepRunner<Cuda, T, Loss, Optimizer> {
  static_assert(
      GPUNET_NVCC || detail::is_compiled_step<Loss, Optimizer>,
      "gpunet::train::Step: a loss or an optimizer of this program runs on Cuda, and only a CUDA compiler makes "
      "kernels of it, compile this unit with nvcc");
  using Target = typename Loss::target_type;

 public:
  StepRunner(Network<Cuda, T>& model, const Loss& loss, Optimizer& optimizer);

  void operator()(const View<const T, Cuda>& inputs, const View<const Target, Cuda>& targets);
  // Runs `times` steps on a batch in one call; writes the loss of step i to losses[i] unless it is null. Returns false, and
  // does nothing, if a step does not fit into a block.
  bool repeat(index_t times, const View<const T, Cuda>& inputs, const View<const Target, Cuda>& targets, T* losses);
  // See train::Step.
  RecordingStatus recording(index_t batch) const;

 private:
  class State;  // step_runner.cuh

  std::unique_ptr<State, void (*)(State*)> state_;
};

#endif

#define GPUNET_SGD_STEP(D, T) class StepRunner<D, T, nn::CrossEntropyLoss, optim::SGD<D, T>>
#define GPUNET_ADAM_STEP(D, T) class StepRunner<D, T, nn::CrossEntropyLoss, optim::Adam<D, T>>
#define GPUNET_RMSPROP_STEP(D, T) class StepRunner<D, T, nn::CrossEntropyLoss, optim::RMSprop<D, T>>
GPUNET_EXTERN_TEMPLATES(GPUNET_SGD_STEP)
GPUNET_EXTERN_TEMPLATES(GPUNET_ADAM_STEP)
GPUNET_EXTERN_TEMPLATES(GPUNET_RMSPROP_STEP)

}  // namespace gpunet::train

#if GPUNET_NVCC  // for a user's losses, also with the compiled library
#include <gpunet/train/step_runner.cuh>
#endif
