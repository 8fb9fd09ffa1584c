// Initial values of convolutional networks.
#pragma once

#include <gpunet/gpunet.hpp>

namespace gpunet::networks {

// Draws the weights of all convolutions from normal distributions, as torchvision does with its
// networks (He and others, "Delving Deep into Rectifiers", 2015, for the backward pass).
template <class Net>
void init_convolutions(Net& net) {
  for (const ParameterInfo& parameter : net.named_parameters())
    if (parameter.sizes.rank() == 4)
      nn::init::kaiming_normal_(get_parameter(net, parameter.name), 0, nn::init::FanMode::fan_out,
                                nn::init::Nonlinearity::relu);
}

}  // namespace gpunet::networks
