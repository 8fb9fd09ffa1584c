// Bounds of the uniform distributions that torch.nn draws parameters from. fan_in: inputs of one output.
#pragma once

#include <cmath>

#include <gpunet/core/config.hpp>

namespace gpunet::nn {

namespace init {

// What stands behind a layer, as calculate_gain wants to know.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };

// By how much a layer's weights are larger for what stands behind it; `a` is the negative slope of a leaky ReLU.
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

// sqrt(3) * gain / sqrt(fan_in) for a leaky ReLU of slope a (He et al. 2015), in the order in which
// torch.nn.init.kaiming_uniform_ rounds it. Linear and Conv2d draw their weights with a = sqrt(5).
inline double kaiming_uniform_bound(index_t fan_in, double a = std::sqrt(5.0)) {
  if (fan_in == 0) return 0.0;
  const double gain = init::calculate_gain(init::Nonlinearity::leaky_relu, a);
  return std::sqrt(3.0) * (gain / std::sqrt(static_cast<double>(fan_in)));
}

// 1 / sqrt(fan_in): the biases of Linear and Conv2d.
inline double bias_bound(index_t fan_in) {
  return fan_in > 0 ? 1.0 / std::sqrt(static_cast<double>(fan_in)) : 0.0;
}

}  // namespace gpunet::nn
