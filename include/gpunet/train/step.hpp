// A whole training step at once.
#pragma once

#include <gpunet/model/model.hpp>

namespace gpunet::train {

// Forward, loss, backward and update as one object that sees model, loss and optimizer as types, so that a device
// may run the step in the order that suits it: on Host slice by slice through the whole network. The same numbers
// as
//   optimizer.zero_grad(); auto loss = criterion(net(inputs), labels); loss.backward(); optimizer.step();
template <class Model, class Loss, class Optimizer>
class Step {
  using T = typename Model::value_type;
  using D = typename Model::device_type;

 public:
  // Model and optimizer must outlive the step.
  Step(Model& model, const Loss& loss, Optimizer& optimizer) : model_(model), loss_(loss), optimizer_(optimizer) {}

  // inputs [batch, ...], targets [batch]; returns the mean loss before the update.
  LossValue<Model> operator()(View<const T, D> inputs, View<const typename Loss::target_type, D> targets) {
    optimizer_.zero_grad();
    const LossValue<Model> loss = model_.forward_backward(inputs, loss_, targets);
    optimizer_.step();
    return loss;
  }

 private:
  Model& model_;
  Loss loss_;
  Optimizer& optimizer_;
};

}  // namespace gpunet::train
