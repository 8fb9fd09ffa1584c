// expect: gpunet::train::Step: the targets have another type than the loss wants (labels are Tensor<label_t, D>), or are on another kind of device than the model
// Labels as floats in a Step.
// Classes are a `Tensor<label_t, D>`; the targets of `nn::MSELoss` have the type of the outputs.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const Tensor<float, Host>& inputs,
         const Tensor<float, Host>& labels) {
  train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
  step(inputs, labels);
}
