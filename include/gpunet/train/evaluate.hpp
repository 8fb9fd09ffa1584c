// Loss and accuracy of a network on a dataset.
#pragma once

#include <type_traits>

#include <gpunet/nn/layer.hpp>
#include <gpunet/train/metrics.hpp>
#include <gpunet/train/running_loss.hpp>

namespace gpunet::train {

namespace detail {

// Restores the mode of a model.
template <class Model>
class KeepMode {
 public:
  explicit KeepMode(Model& model) : model_(model), mode_(model.mode()) {}
  KeepMode(const KeepMode&) = delete;
  KeepMode& operator=(const KeepMode&) = delete;
  ~KeepMode() { model_.train(mode_ == nn::Mode::train); }

 private:
  Model& model_;
  nn::Mode mode_;
};

// Returns the batches of a loader on a device, or the batches if they are on it already.
template <class Loader, class D>
decltype(auto) batches_on(D& device, Loader& loader) {
  if constexpr (requires { loader.to(device); }) {
    return loader.to(device);
  } else {
    static_assert(
        requires { loader.begin(); },
        "gpunet::train: this is not a loader (a dataset has no batches), write data::DataLoader loader(set, "
        "{.batch_size = 4})");
    return (loader);
  }
}

}  // namespace detail

// Means over all samples; NaN if there are none. The accuracy is that of a classifier, NaN if a target is not a label.
struct Evaluation {
  double loss, accuracy;
  index_t samples;
};

// Returns loss and accuracy of a model in evaluation mode, over all batches of a data::DataLoader or of batches that
// are on the device already (loader.resident_on(device)). Restores the model's mode. Stops if go_on() returns false
// after a batch.
template <class Model, class Loss, class Loader, class GoOn>
Evaluation evaluate(Model& model, const Loss& criterion, Loader&& loader, GoOn go_on) {
  const detail::KeepMode keep(model);
  model.eval();
  auto& device = model.device();
  using Target = nn::TargetOf<Loss, typename Model::device_type, typename Model::value_type>;
  RunningLoss loss(device);
  index_t samples = 0;
  Accuracy accuracy(device, model.plan().output_features);
  auto&& batches = detail::batches_on(device, loader);
  for (auto [inputs, targets] : batches) {
    static_assert(
        std::is_convertible_v<decltype(targets), View<const Target, typename Model::device_type>>,
        "gpunet::train::evaluate: the loss has targets of another type than the loader's (classes are label_t, "
        "others float), use a loss with its target_type, or a dataset with targets of the loss");
    auto outputs = model(inputs);
    loss.update(criterion(outputs, targets), inputs.size(0));
    samples += inputs.size(0);
    if constexpr (std::is_same_v<Target, label_t>)
      if (targets.sizes().rank() == 1) accuracy.update(outputs, targets);
    if (!go_on()) break;
  }
  return {loss.item(), accuracy.result().accuracy(), samples};
}
template <class Model, class Loss, class Loader>
Evaluation evaluate(Model& model, const Loss& criterion, Loader&& loader) {
  return evaluate(model, criterion, loader, [] { return true; });
}

}  // namespace gpunet::train
