// expect: gpunet::Model: the inputs are on another kind of device than the model, move them with to(device)
// Data on Cuda for a model on Host.
// `inputs.to(device)` copies a tensor; `loader.to(device)` makes a loader's batches on the device.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         View<const float, Cuda> inputs) {
  net(inputs);
}
