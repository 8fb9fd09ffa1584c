// Initial values of convolutional networks.
#pragma once

#include <gpunet/gpunet.hpp>

namespace examples {

// Draws the weights of all convolutions from normal distributions, as torchvision does with its networks (He and others,
// "Delving Deep into Rectifiers", 2015, for the backward pass).
template <class Net>
void init_convolutions(Net& net) {
  for (const gpunet::ParameterInfo& parameter : net.named_parameters())
    if (parameter.sizes.rank() == 4)
      gpunet::nn::init::kaiming_normal_(get_parameter(net, parameter.name), 0, gpunet::nn::init::FanMode::fan_out,
                                        gpunet::nn::init::Nonlinearity::relu);
}

}  // namespace examples
