// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/optim/adam.hpp>
#include <gpunet/optim/optimizer.ipp>
#include <gpunet/optim/rmsprop.hpp>
#include <gpunet/optim/sgd.hpp>

namespace gpunet::optim {

template void Optimizer<SGD<Host, float>, Host, float, 1>::update_parameters();
template void Optimizer<SGD<Host, double>, Host, double, 1>::update_parameters();
template void Optimizer<Adam<Host, float>, Host, float, 3>::update_parameters();
template void Optimizer<Adam<Host, double>, Host, double, 3>::update_parameters();
template void Optimizer<RMSprop<Host, float>, Host, float, 3>::update_parameters();
template void Optimizer<RMSprop<Host, double>, Host, double, 3>::update_parameters();

}  // namespace gpunet::optim
