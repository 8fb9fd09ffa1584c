// Loss and accuracy of a network on a dataset.
#pragma once

#include <type_traits>
#include <utility>

#include <gpunet/core/random.hpp>
#include <gpunet/model/network.hpp>
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

// A loader without batches on a device yet, which can draw from a generator.
template <class Loader, class D>
concept TakesGenerator = requires(Loader& loader, D& device, const GeneratorOption& generator) {
  loader.to(device, generator);
};

// Returns the batches of a loader on a device, or the batches if they are on it already. A
// data::DataLoader without a generator draws from `generator`.
template <class Loader, class D>
decltype(auto) batches_on(D& device, Loader& loader, const GeneratorOption& generator) {
  if constexpr (TakesGenerator<Loader, D>) {
    return loader.to(device, generator);
  } else if constexpr (requires { loader.to(device); }) {
    return loader.to(device);
  } else {
    static_assert(
        requires { loader.begin(); },
        "gpunet::train: this is not a loader (a dataset has no batches), write data::DataLoader "
        "loader(set, {.batch_size = 4})");
    return (loader);
  }
}

// Returns the inputs of the model and the targets of the loss for a batch of a loader.
// nn::OutputLoss has no targets: the loader's are the model's second input, or ignored if it has
// one input.
template <class Loss, class D, class T, class Inputs, class Targets>
auto batch_for(Network<D, T>& model, const Inputs& inputs, const Targets& targets) {
  using Input = View<const T, D>;
  if constexpr (std::is_same_v<Loss, nn::OutputLoss>) {
    const Input none(nullptr, Sizes{inputs.size(0), 0});
    if constexpr (std::is_convertible_v<const Targets&, Input>) {
      if (model.graph().inputs.size() > 1) return std::pair(model.join({inputs, targets}), none);
    } else {
      require(model.graph().inputs.size() <= 1,
              "gpunet::train: the loader's targets are labels and the network has a second input "
              "(which takes numbers of the network's type), give the dataset targets of floats: "
              "Tensor<float, Host>");
    }
    return std::pair(model.join({inputs}), none);
  } else {
    return std::pair(inputs, targets);
  }
}

}  // namespace detail

// Means over all samples, or over the labels [batch] or [batch, ...] that the loss does not ignore;
// NaN if there are none. The accuracy is the fraction that is predicted correctly; NaN if targets
// are not labels.
struct Evaluation {
  double loss, accuracy;
  index_t samples;
  index_t counted;  // labels that count
  double weight;    // of the loss: counted labels, or samples
};

// Returns loss and accuracy of a model in evaluation mode, over all batches of a data::DataLoader
// or of batches that are on the device already (loader.resident_on(device)). Restores the model's
// mode. Calls see(outputs, targets) after each batch, for metrics, with the targets of the loader;
// stops if it returns false. With nn::OutputLoss, the loader's targets are used as in fit(). A
// loader without a generator draws from `generator`; throws Error if one is given with batches that
// are on the device already.
template <class Model, class Loss, class Loader, class See>
Evaluation evaluate(Model& model, const Loss& criterion, Loader&& loader, See see,
                    const GeneratorOption& generator = {}) {
  auto& device = model.device();
  require(detail::TakesGenerator<Loader, typename Model::device_type> || !generator.is_given(),
          "gpunet::train::evaluate: a generator with batches that are made already (they draw from "
          "that of their loader), give it to the data::DataLoader");
  const detail::KeepMode keep(model);
  model.eval();
  using Target = nn::TargetOf<Loss, typename Model::device_type, typename Model::value_type>;
  RunningLoss loss(device);
  index_t samples = 0, labels = 0;
  // Of outputs [classes, ...], the targets may be [...]: a class for each place.
  const Sizes& sizes = model.output_sizes();
  const AnyLoss<typename Model::device_type, typename Model::value_type> loss_of(criterion);
  const bool has_places = sizes.rank() > 1 && loss_of.traits(sizes).target == sizes.tail();
  Accuracy accuracy(device, has_places ? sizes[0] : sizes.numel(),
                    {nn::detail::ignore_index_of(criterion)});
  auto&& batches = detail::batches_on(device, loader, generator);
  for (auto [batch_inputs, batch_targets] : batches) {
    const auto [inputs, targets] = detail::batch_for<Loss>(model, batch_inputs, batch_targets);
    static_assert(
        std::is_convertible_v<decltype(targets), View<const Target, typename Model::device_type>>,
        "gpunet::train::evaluate: the loss has targets of another type than the loader's (classes "
        "are label_t, others float), use a loss with its target_type, or a dataset with targets of "
        "the loss");
    auto outputs = model(inputs);
    const auto loss_of_batch = criterion(outputs, targets);
    samples += inputs.size(0);
    bool has_labels = false;
    if constexpr (std::is_same_v<Target, label_t>)
      if (has_places || targets.sizes().rank() == 1) {
        accuracy.update(outputs, targets);
        labels += targets.numel();
        has_labels = true;
      }
    if (has_labels)
      loss.update(loss_of_batch, targets.numel(), accuracy.ignored());
    else
      loss.update(loss_of_batch, inputs.size(0));
    if (!see(outputs, batch_targets)) break;
  }
  const auto result = accuracy.result();
  return {loss.item(), result.accuracy(), samples, labels - result.ignored, loss.weight()};
}
template <class Model, class Loss, class Loader>
Evaluation evaluate(Model& model, const Loss& criterion, Loader&& loader) {
  return evaluate(model, criterion, loader, [](const auto&, const auto&) { return true; });
}

}  // namespace gpunet::train
