// Bounds of the uniform initial values of parameters in torch.nn. fan_in is the number of inputs of
// one output.
#pragma once

#include <cmath>

#include <gpunet/core/config.hpp>

namespace gpunet::nn {

namespace init {

// The activation after a layer, for calculate_gain.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };

// Returns the factor of the initial weights for an activation, as torch.nn.init.calculate_gain; `a`
// is the negative slope of a leaky ReLU.
inline double calculate_gain(Nonlinearity nonlinearity, double a = 0.01) {
  switch (nonlinearity) {
    case Nonlinearity::tanh:
      return 5.0 / 3;
    case Nonlinearity::relu:
      return std::sqrt(2.0);
    case Nonlinearity::leaky_relu:
      return std::sqrt(2.0 / (1 + a * a));
    case Nonlinearity::selu:
      return 3.0 / 4;
    default:
      return 1;
  }
}

}  // namespace init

// Returns sqrt(3) * gain / sqrt(fan_in) for a leaky ReLU of slope a (He et al. 2015), rounded as
// torch.nn.init.kaiming_uniform_ does: the bound of the weights of Linear and Conv2d, with
// a = sqrt(5).
inline double kaiming_uniform_bound(index_t fan_in, double a = std::sqrt(5.0)) {
  if (fan_in == 0) return 0.0;
  const double gain = init::calculate_gain(init::Nonlinearity::leaky_relu, a);
  return std::sqrt(3.0) * (gain / std::sqrt(static_cast<double>(fan_in)));
}

// Returns 1 / sqrt(fan_in): the bound of the biases of Linear and Conv2d.
inline double bias_bound(index_t fan_in) {
  return fan_in > 0 ? 1.0 / std::sqrt(static_cast<double>(fan_in)) : 0.0;
}

}  // namespace gpunet::nn
