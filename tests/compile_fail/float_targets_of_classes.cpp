// expect: gpunet::Model: the loss takes labels and the targets are floats, give a Tensor<label_t, D> of classes from 0; floats are for losses such as MSELoss, probabilities of the classes for SoftCrossEntropyLoss
// Float targets for CrossEntropyLoss.
// A label is the number of a class: `Tensor<label_t, Host> labels(device, {n}, values)`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         View<const float, Host> inputs, const Tensor<float, Host>& targets) {
  nn::CrossEntropyLoss criterion;
  criterion(net(inputs), targets);
}
