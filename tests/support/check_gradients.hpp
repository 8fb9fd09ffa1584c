// The numeric gradient check for every layer, loss and network, in double.
#pragma once

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"

using gpunet::nn::LayerRun, gpunet::nn::test_slices, gpunet::nn::check_layer_gradients,
    gpunet::nn::check_loss_gradients;

// The slices of Host that hold a batch of 3; on Cuda there is one.
template <class D>
std::vector<gpunet::Slice> slices_of_three() {
  if constexpr (std::same_as<D, gpunet::Host>)
    return {{3, 3, 1}, {3, 1, 4}, {3, 1, 16}, {3, 2, 2}};
  else
    return {{3, 3, 1}};
}

// Checks a network in a model on a batch of random inputs and targets: the gradient of the loss
// with respect to every parameter, by loss.backward() and by Model::forward_backward.
template <class D, class Net, class Loss>
void check_network_gradients(D& device, const Net& net, gpunet::index_t batch, const Loss& loss,
                             std::uint64_t seed = 1) {
  using Target = typename Loss::target_type;
  CAPTURE(batch);
  gpunet::Generator generator(seed);
  gpunet::manual_seed(seed);
  gpunet::Model<Net, D, double> model(device, net);
  const gpunet::index_t classes = model.plan().output_features;
  const auto sizes = net.input().sizes().with_front(batch);
  const gpunet::Tensor<double, D> x(device, sizes, random_values<double>(sizes.numel(), generator));
  std::vector<Target> labels;
  for (gpunet::index_t n = 0; n < batch; ++n)
    labels.push_back(static_cast<Target>(generator.random() % classes));
  const gpunet::Tensor<Target, D> targets(device, {batch}, labels);

  std::vector<double> arena(static_cast<std::size_t>(model.parameters().numel()));
  const std::size_t bytes = arena.size() * sizeof(double);
  const auto gradient = [&] {
    device.download(arena.data(), model.gradients().data(), bytes);
    return arena;
  };
  loss(model(x), targets).backward();
  const std::vector<double> analytic = gradient();
  model.zero_grad();
  model.forward_backward(x, loss, targets.view());
  CHECK(gradient() == analytic);

  device.download(arena.data(), model.parameters().data(), bytes);
  std::vector<double> numeric(arena.size());
  for (const auto& parameter : model.named_parameters())
    for (gpunet::index_t i = parameter.offset; i < parameter.offset + parameter.sizes.numel();
         ++i) {
      const double kept = arena.data()[i];
      const auto value = [&](double t) {
        arena.data()[i] = kept + t;
        device.upload(model.parameters().data(), arena.data(), bytes);
        return std::vector{static_cast<double>(loss(model(x), targets).item())};
      };
      numeric.data()[i] =
          gpunet::nn::numeric_derivative(1e-4, value)[0].nearest(analytic.data()[i]);
      arena.data()[i] = kept;
    }
  CHECK(relative_error(numeric, analytic) < gpunet::nn::gradient_tolerance);
}
