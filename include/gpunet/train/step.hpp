// A training step in one call.
#pragma once

#include <concepts>
#include <initializer_list>

#include <gpunet/model/model.hpp>
#include <gpunet/train/step_runner.hpp>

namespace gpunet::train {

// Forward pass, loss, backward pass and update in one call. Each device uses its fastest schedule: Host runs slice by
// slice through the whole network, Cuda replays one graph that is recorded once per batch size (see recording()).
// Bitwise identical to
//   optimizer.zero_grad(); auto loss = criterion(net(inputs), labels); loss.backward(); optimizer.step();
template <class D, class T, class Loss, class Optimizer>
class Step {
  using Inputs = ViewArgument<T, D>;
  using Targets = ViewArgument<nn::TargetOf<Loss, D, T>, D>;

 public:
  // The optimizer must be the model's. Both must outlive this; they may be moved.
  Step(Network<D, T>& model, const Loss& loss, Optimizer& optimizer)
      : model_(model), loss_(loss), run_(model, optimizer) {
    require(
        &optimizer.model() == &model,
        "gpunet::train::Step: the optimizer belongs to another model (this one would not learn), make one for it");
  }
  // The same. A loss that does not match the model's outputs is a compile error.
  template <class Net>
  Step(Model<Net, D, T>& model, const Loss& loss, Optimizer& optimizer)
      : Step(static_cast<Network<D, T>&>(model), loss, optimizer) {
    nn::detail::check_loss_shape<Loss>(typename Model<Net, D, T>::OutputShape{});
  }

  // Trains on a batch: inputs [batch, ...], targets [batch, ...]. Returns the loss before the update.
  LossValue<D, T> operator()(const Inputs& inputs, const Targets& targets) {
    const ModelUse::Exclusive use = model_->exclusive_use();
    return step(inputs, targets);
  }

  // The same for networks with several inputs: step({a, b}, targets).
  LossValue<D, T> operator()(std::initializer_list<Inputs> inputs, const Targets& targets) {
    const ModelUse::Exclusive use = model_->exclusive_use();
    return step(model_->join(inputs), targets);
  }
  // The same for networks that compute their loss (nn::OutputLoss): step({x, t}).
  LossValue<D, T> operator()(std::initializer_list<Inputs> inputs) requires std::same_as<Loss, nn::OutputLoss> {
    const ModelUse::Exclusive use = model_->exclusive_use();
    const View<const T, D> joined = model_->join(inputs);
    return step(joined, View<const T, D>(nullptr, Sizes{joined.size(0), 0}));
  }
  LossValue<D, T> operator()(const Inputs& input) requires std::same_as<Loss, nn::OutputLoss> {
    return (*this)({input});
  }

  // Compile errors for arguments of other types.
  template <class X, class Y>
  requires(!std::is_convertible_v<const X&, Inputs> || !std::is_convertible_v<const Y&, Targets>) LossValue<D, T>
  operator()(const X&, const Y&) {
    static_assert(
        std::is_convertible_v<const X&, Inputs>,
        "gpunet::train::Step: the inputs have another element type than the model (float, unless its third "
        "argument says otherwise), or are on another kind of device, write step(inputs, targets)");
    static_assert(std::is_convertible_v<const Y&, Targets>,
                  "gpunet::train::Step: the targets have another type than the loss wants (labels are "
                  "Tensor<label_t, D>), or "
                  "are on another kind of device than the model");
  }

  // Runs `times` steps on the same batch, for datasets that are one batch, and returns their losses, [times]. For small
  // networks and batches, Cuda runs up to 1024 steps in one launch.
  Tensor<T, D> repeat(index_t times, const Inputs& inputs, const Targets& targets) {
    require(times >= 1, "gpunet::train::Step::repeat: ", times, " steps (want 1 or more)");
    const ModelUse::Exclusive use = model_->exclusive_use();
    Tensor<T, D> losses(model_->device(), {times});
    model_->zero_grad();
    if (run_.repeat(times, inputs, {loss_, targets}, losses.data()))
      model_->end_step();
    else
      for (index_t i = 0; i < times; ++i)
        model_->device().copy(losses.data() + i, step(inputs, targets).data(), sizeof(T));
    return losses;
  }

  // Returns whether steps on batches of this size, in the model's current mode, are replayed from a recording (two
  // launches on Cuda), and if not, why. If a layer cannot be recorded because it allocates or waits for the device, the
  // steps run eagerly: slower, bitwise identical.
  RecordingStatus recording(index_t batch_size) const { return run_.recording(loss_, batch_size); }

 private:
  LossValue<D, T> step(const Inputs& inputs, const Targets& targets) {
    model_->zero_grad();
    run_(inputs, {loss_, targets});
    return model_->end_step();
  }

  TrackedPointer<Network<D, T>> model_;
  Loss loss_;
  StepRunner<D, T, typename Optimizer::self_type> run_;
};

}  // namespace gpunet::train
