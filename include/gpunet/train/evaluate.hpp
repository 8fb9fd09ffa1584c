// How good a network is on a dataset.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/train/accuracy.hpp>
#include <gpunet/train/running_loss.hpp>

namespace gpunet::train {

namespace detail {

// Puts a model back into the mode that it had.
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

// The batches of a loader on a device, or those that are on one already.
template <class Loader, class D>
decltype(auto) batches_on(D& device, Loader& loader) {
  if constexpr (requires { loader.to(device); })
    return loader.to(device);
  else
    return (loader);
}

}  // namespace detail

// Means over all samples; NaN where there is none.
struct Evaluation {
  double loss, accuracy;
  index_t samples;
};

// Loss and accuracy of a model, in eval mode, on all batches of a data::DataLoader, or on batches that are on its device
// already (loader.resident_on(device)). The model goes back to the mode that it had. `go_on` is asked after each batch.
template <class Model, class Loss, class Loader, class GoOn>
Evaluation evaluate(Model& model, const Loss& criterion, Loader&& loader, GoOn go_on) {
  const detail::KeepMode keep(model);
  model.eval();
  auto& device = model.device();
  RunningLoss loss(device);
  Accuracy accuracy(device, model.plan().output_features);
  auto&& batches = detail::batches_on(device, loader);
  for (auto [inputs, labels] : batches) {
    auto outputs = model(inputs);
    loss.update(criterion(outputs, labels), labels.numel());
    accuracy.update(outputs, labels);
    if (!go_on()) break;
  }
  const auto counted = accuracy.result();
  return {loss.item(), counted.accuracy(), counted.total()};
}
template <class Model, class Loss, class Loader>
Evaluation evaluate(Model& model, const Loss& criterion, Loader&& loader) {
  return evaluate(model, criterion, loader, [] { return true; });
}

}  // namespace gpunet::train
