// Runs training steps on a device.
#pragma once

#include <memory>
#include <type_traits>

#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/model/network_access.hpp>
#include <gpunet/optim/adadelta.hpp>
#include <gpunet/optim/adagrad.hpp>
#include <gpunet/optim/adam.hpp>
#include <gpunet/optim/lion.hpp>
#include <gpunet/optim/nadam.hpp>
#include <gpunet/optim/radam.hpp>
#include <gpunet/optim/rmsprop.hpp>
#include <gpunet/optim/sgd.hpp>
#include <gpunet/train/recording_status.hpp>

namespace gpunet::train {

// The part of a step when gradients of several batches are accumulated.
struct StepPart {
  double loss_gradient = 1;  // the loss is multiplied by this for the backward pass
  bool updates = true;       // whether it ends with an update
};

// Runs the steps of a model one by one. Cuda has its own version below.
template <class D, class T, class Optimizer>
class StepRunner {
 public:
  StepRunner(Network<D, T>& model, Optimizer& optimizer) : model_(model), optimizer_(optimizer) {}

  void operator()(const View<const T, D>& inputs, const TargetsOf<D, T>& targets,
                  const StepPart& part = {}) {
    gpunet::detail::NetworkAccess::begin_step(*model_, inputs, targets);
    gpunet::detail::NetworkAccess::run_step(*model_, targets, static_cast<T>(part.loss_gradient));
    if (part.updates) static_cast<Optimizer&>(*optimizer_).update_parameters();
  }
  // Runs `times` steps on a batch if the device can do so in one call; returns whether it did.
  bool repeat(index_t, const View<const T, D>&, const TargetsOf<D, T>&, T*) { return false; }
  // Returns whether steps on batches of this size are replayed. `one_part`: each has one part.
  RecordingStatus recording(const AnyLoss<D, T>&, index_t,
                            [[maybe_unused]] bool one_part = true) const {
    return {false, concat("nothing is recorded on ", model_->device().name())};
  }

 private:
  TrackedPointer<Network<D, T>> model_;
  TrackedPointer<optim::Rates> optimizer_;
};

#if GPUNET_CUDA

namespace detail {

#define GPUNET_OR_IS(Name, states) || std::is_same_v<Optimizer, optim::Name<Cuda, T>>
// Whether the compiled library has the steps: with the optimizers of gpunet.
template <class Optimizer, class T>
inline constexpr bool is_compiled_step = false GPUNET_EACH_OPTIMIZER(GPUNET_OR_IS);
#undef GPUNET_OR_IS

}  // namespace detail

// Steps of one batch size submit the same work each time, except for the batch and the optimizer's
// numbers (such as the learning rate), which are first copied to fixed addresses. So the second
// step of a batch size is recorded as a graph, and each later step takes two launches, and one more
// for each further group of parameters. The parts of a step that accumulates gradients (the first,
// those between, the last) are recorded each for itself. Steps are recorded again if the model's
// memory has moved, or if other parameters are trained or grouped. A batch size that cannot be
// recorded stays eager.
template <class T, class Optimizer>
class StepRunner<Cuda, T, Optimizer> {
  static_assert(GPUNET_NVCC || detail::is_compiled_step<Optimizer, T>,
                "gpunet::train::Step: an optimizer of this program runs on Cuda, and only a CUDA "
                "compiler makes kernels of it, compile this unit with nvcc");

 public:
  StepRunner(Network<Cuda, T>& model, Optimizer& optimizer);

  void operator()(const View<const T, Cuda>& inputs, const TargetsOf<Cuda, T>& targets,
                  const StepPart& part = {});
  // Runs `times` steps on a batch in one call; writes the loss of step i to losses[i] unless it is
  // null. Returns false, and does nothing, if a step does not fit into a block.
  bool repeat(index_t times, const View<const T, Cuda>& inputs, const TargetsOf<Cuda, T>& targets,
              T* losses);
  // See train::Step.
  RecordingStatus recording(const AnyLoss<Cuda, T>& loss, index_t batch,
                            bool one_part = true) const;

 private:
  class State;  // step_runner.cuh

  std::unique_ptr<State, void (*)(State*)> state_;
};

#endif

#define GPUNET_STEP(D, T, Name, states) class StepRunner<D, T, optim::Name<D, T>>
#define GPUNET_EXTERN_STEP(...) GPUNET_EXTERN_TEMPLATES(GPUNET_STEP, __VA_ARGS__)
#define GPUNET_COMPILE_STEP(...) GPUNET_COMPILE_TEMPLATES(GPUNET_STEP, __VA_ARGS__)
GPUNET_EACH_OPTIMIZER(GPUNET_EXTERN_STEP)

}  // namespace gpunet::train

#if GPUNET_NVCC  // for a user's optimizers, also with the compiled library
#include <gpunet/train/step_runner.cuh>
#endif
