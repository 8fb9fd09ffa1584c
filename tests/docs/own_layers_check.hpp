// Checks of own_layers.hpp, by installed headers only: docs/adding_a_layer.md has them.
#pragma once

#include <vector>

#include <gpunet/nn/gradient_check.hpp>

#include "docs/own_layers.hpp"

namespace mine {

using namespace gpunet;

template <class D>
void check_gradients(D& device) {
  nn::check_layer_gradients(device, nn::Elementwise(LeakyReLU{0.1}), Shape<7>{});
  nn::check_layer_gradients(device, PReLU{}, Shape<2, 3, 1>{});
  nn::check_layer_gradients(device, Dropout{0.3f}, Shape<2, 3, 2>{});
}

// layer = torch.nn.PReLU(); x = torch.tensor([[-2.0], [-0.5], [0.0], [1.5]], requires_grad=True)
// y = layer(x); y.backward(torch.tensor([[1.0], [2.0], [3.0], [4.0]])); print(y, x.grad,
// layer.weight.grad)
template <class D>
bool has_numbers_of_pytorch(D& device) {
  nn::LayerRun<float, D> layer(device, PReLU{}, Shape<1>{}, Slice{4, 4, 1});
  layer.set_parameters({0.25f});
  const std::vector<float> y = layer.forward({-2, -0.5, 0, 1.5});
  const auto gradients = layer.backward({1, 2, 3, 4});
  return y == std::vector<float>{-0.5, -0.125, 0, 1.5} &&
         gradients.dx == std::vector<float>{0.25, 0.5, 0.75, 4} &&
         gradients.parameters == std::vector<float>{-3};
}

template <class D>
void check_losses(D& device) {
  nn::check_loss_gradients(device, nn::ElementwiseLoss<LogCosh>{}, Sizes{2, 3});
  nn::check_loss_gradients(device, CosineLoss{}, Sizes{5});
}

}  // namespace mine
