// expect: gpunet::Model: the inputs are on another kind of device than the model
// Data on Cuda for a model on Host.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net, View<const float, Cuda> inputs) {
  net(inputs);
}
