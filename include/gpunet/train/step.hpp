// A training step in one call.
#pragma once

#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <gpunet/core/state.hpp>
#include <gpunet/model/model.hpp>
#include <gpunet/model/network_access.hpp>
#include <gpunet/optim/grad_scaler.hpp>
#include <gpunet/train/leaf_passes.hpp>
#include <gpunet/train/step_runner.hpp>

namespace gpunet::train {

// Options of a Step.
struct StepOptions {
  index_t accumulate = 1;             // batches whose gradients make an update
  amp::GradScaler* scaler = nullptr;  // for a network that stores float16; must outlive the step
};

// A wrapper that trains a network: distributed::DistributedDataParallel.
template <class Wrapper>
concept HasModule = requires(Wrapper& wrapper) {
  static_cast<Network<typename Wrapper::device_type, typename Wrapper::value_type>&>(
      wrapper.module());
};

// Forward pass, loss, backward pass and update in one call. Each device uses its fastest schedule:
// Host runs slice by slice through the whole network, Cuda replays one graph that is recorded once
// per batch size (see recording()). Bitwise identical to
//   optimizer.zero_grad();
//   auto loss = criterion(net(inputs), labels);
//   loss.backward();
//   optimizer.step();
//
// With {.accumulate = k}, k calls make an update, by the mean of their gradients: memory for a
// batch of k times as many samples is not needed. Call i, from 0, is bitwise identical to
//   if (i % k == 0) optimizer.zero_grad();
//   auto loss = criterion(net(inputs), labels);
//   loss.backward(1.0 / k);                           // PyTorch: (loss / k).backward()
//   if (i % k == k - 1) optimizer.step();
// With {.scaler = &scaler}, the backward pass is that of scaler.scale(loss), and the update
// scaler.step(optimizer); scaler.update().
template <class D, class T, class Loss, class Optimizer>
class Step {
  static_assert(
      requires { typename Optimizer::updating_type; },
      "gpunet::train::Step: this optimizer makes no update from one evaluation of the loss (LBFGS "
      "needs several), call optimizer.step(closure) in a loop of your own");
  using Inputs = ViewArgument<T, D>;
  using Targets = ViewArgument<nn::TargetOf<Loss, D, T>, D>;

 public:
  // The optimizer must be the model's. Both must outlive this; they may be moved.
  Step(Network<D, T>& model, const Loss& loss, Optimizer& optimizer,
       const StepOptions& options = {})
      : model_(model),
        optimizer_(optimizer),
        loss_(loss),
        accumulate_(options.accumulate),
        scaler_(options.scaler),
        is_distributed_(model.reducer()),
        run_(model, optimizer) {
    require(&optimizer.model() == &model,
            "gpunet::train::Step: the optimizer belongs to another model (this one would not "
            "learn), make one for it");
    require(accumulate_ >= 1, "gpunet::train::Step: accumulate ", accumulate_,
            " (want 1, an update for every batch, or more)");
    if (scaler_) scaler_->begin_step();
  }
  // The same. A loss that does not match the model's outputs is a compile error.
  template <class Net>
  Step(Model<Net, D, T>& model, const Loss& loss, Optimizer& optimizer,
       const StepOptions& options = {})
      : Step(static_cast<Network<D, T>&>(model), loss, optimizer, options) {
    nn::detail::check_loss_shape<Loss>(typename Model<Net, D, T>::OutputShape{});
  }

  // The same for the network of a distributed::DistributedDataParallel.
  template <HasModule Wrapper>
  Step(Wrapper& ddp, const Loss& loss, Optimizer& optimizer, const StepOptions& options = {})
      : Step(ddp.module(), loss, optimizer, options) {}

  // Trains on a batch: inputs [batch, ...], targets [batch, ...]. Returns the loss before the
  // update.
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
  LossValue<D, T> operator()(
      std::initializer_list<Inputs> inputs) requires std::same_as<Loss, nn::OutputLoss> {
    const ModelUse::Exclusive use = model_->exclusive_use();
    const View<const T, D> joined = model_->join(inputs);
    return step(joined, View<const T, D>(nullptr, Sizes{joined.size(0), 0}));
  }
  LossValue<D, T> operator()(const Inputs& input) requires std::same_as<Loss, nn::OutputLoss> {
    return (*this)({input});
  }

  // Updates by the gradients of an incomplete group of batches, as at the end of an epoch; they are
  // divided by `accumulate` as of a complete one. Does nothing if there are none.
  void update() {
    if (batches_ == 0) return;
    check_ranks(true);
    batches_ = 0;
    auto& optimizer = static_cast<Optimizer&>(*optimizer_);
    gpunet::detail::NetworkAccess::reduce_gradients(*model_);
    if (!scaler_) return optimizer.step();
    scaler_->step(optimizer);
    scaler_->update();
  }
  // Returns the number of batches since the last update.
  index_t accumulated() const { return batches_; }

  // Writes or reads the batches since the last update, and the gradients that they have left, for a
  // checkpoint.
  void visit_state(StateVisitor& state) {
    gpunet::detail::NetworkAccess::visit_gradients(*model_, state, batches_, accumulate_);
  }

  // Compile errors for arguments of other types.
  template <class X, class Y>
  requires(!std::is_convertible_v<const X&, Inputs> ||
           !std::is_convertible_v<const Y&, Targets>) LossValue<D, T>
  operator()(const X&, const Y&) {
    static_assert(std::is_convertible_v<const X&, Inputs>,
                  "gpunet::train::Step: the inputs have another element type than the model "
                  "(float, unless its third argument says otherwise), or are on another kind of "
                  "device, write step(inputs, targets)");
    static_assert(std::is_convertible_v<const Y&, Targets>,
                  "gpunet::train::Step: the targets have another type than the loss wants (labels "
                  "are Tensor<label_t, D>), or are on another kind of device than the model");
  }

  // Runs `times` steps on the same batch, for datasets that are one batch, and returns their
  // losses, [times]. For small networks and batches, Cuda runs up to 1024 steps in one launch.
  Tensor<T, D> repeat(index_t times, const Inputs& inputs, const Targets& targets) {
    require(times >= 1, "gpunet::train::Step::repeat: ", times, " steps (want 1 or more)");
    const ModelUse::Exclusive use = model_->exclusive_use();
    Tensor<T, D> losses(model_->device(), {times});
    check_ranks(true);
    const bool one_part = has_one_part();
    if (one_part) model_->zero_grad();
    if (one_part && run_.repeat(times, inputs, {loss_, targets}, losses.data()))
      gpunet::detail::NetworkAccess::end_step(*model_);
    else
      for (index_t i = 0; i < times; ++i)
        model_->device().copy(losses.data() + i, step(inputs, targets).data(), sizeof(T));
    return losses;
  }

  // Returns whether steps on batches of this size, in the model's current mode, are replayed from a
  // recording (two launches on Cuda), and if not, why. If a layer cannot be recorded because it
  // allocates or waits for the device, the steps run eagerly: slower, bitwise identical.
  RecordingStatus recording(index_t batch_size) const {
    return run_.recording(loss_, batch_size, has_one_part());
  }

 private:
  bool has_one_part() const {
    return accumulate_ == 1 && !scaler_ && !model_->detects_anomaly() && !model_->reducer();
  }

  // Throws Error where the ranks of the model would no longer be the same.
  void check_ranks(bool updates) const {
    require(!is_distributed_ || model_->reducer(),
            "gpunet::train::Step: the DistributedDataParallel that this was made with has ended "
            "(this rank would train for itself), keep it as long as the step");
    require(!updates || !model_->reducer() || model_->reducer()->reduces(),
            "gpunet::train::Step: an update within no_sync() (each rank would update by its own "
            "gradients), use {.accumulate = k}, or end its scope before");
  }

  LossValue<D, T> step(const Inputs& inputs, const Targets& targets) {
    const double loss_gradient = 1.0 / static_cast<double>(accumulate_);
    const double scale = scaler_ ? scaler_->scale_of(model_->storage()) : 1;
    if (batches_ == 0) model_->zero_grad();
    const bool updates = batches_ + 1 == accumulate_;
    check_ranks(updates);
    LeafReducer<D, T>* const leaves = model_->leaves();
    const bool runs_update = updates && !scaler_ && !model_->detects_anomaly() && !leaves;
    const NoSync<D, T> no_sync(updates || leaves ? nullptr : model_->reducer());
    const auto pass = [&](const Inputs& x, const Targets& y, const StepPart& part) {
      run_(x, {loss_, y}, part);
      if (model_->detects_anomaly())
        gpunet::detail::NetworkAccess::check_step(*model_, x, {loss_, y},
                                                  static_cast<T>(part.loss_gradient));
    };
    const auto of_leaves = [&] {
      return detail::run_leaves(*leaves, inputs.size(0), [&] {
        pass(leaves->rows_of_leaf(0, inputs), leaves->rows_of_leaf(1, targets),
             {loss_gradient * scale, false});
        return gpunet::detail::NetworkAccess::end_step(*model_);
      });
    };
    const auto of_batch = [&] {
      pass(inputs, targets, {loss_gradient * scale, runs_update});
      batches_ = updates ? 0 : batches_ + 1;
      return gpunet::detail::NetworkAccess::end_step(*model_);
    };
    const LossValue<D, T> loss = leaves ? of_leaves() : of_batch();
    if (leaves) batches_ = updates ? 0 : batches_ + 1;
    if (!updates || runs_update) return loss;
    if (scaler_) {
      scaler_->step_in_use(static_cast<Optimizer&>(*optimizer_));
      scaler_->update();
    } else {
      static_cast<Optimizer&>(*optimizer_).update_parameters();
    }
    return loss;
  }

  TrackedPointer<Network<D, T>> model_;
  TrackedPointer<optim::Rates> optimizer_;
  Loss loss_;
  index_t accumulate_, batches_ = 0;  // since the last update
  amp::GradScaler* scaler_;
  bool is_distributed_;  // whether the model had a reducer at the beginning
  StepRunner<D, T, typename Optimizer::updating_type> run_;
};

// A network that a DistributedDataParallel holds.
template <HasModule Wrapper, class Loss, class Optimizer>
Step(Wrapper&, const Loss&, Optimizer&, const StepOptions& = {})
    -> Step<typename Wrapper::device_type, typename Wrapper::value_type, Loss, Optimizer>;

}  // namespace gpunet::train
