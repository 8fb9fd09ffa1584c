// expect: gpunet::Model: the loss takes numbers of the network's type and the targets are integers, give a Tensor<float, D> of the shape of the outputs; labels are for CrossEntropyLoss and NLLLoss
// Labels for MSELoss.
// A regression has targets of floats, of the shape of the outputs.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         View<const float, Host> inputs, const Tensor<label_t, Host>& labels) {
  nn::MSELoss criterion;
  criterion.each(net(inputs), labels);
}
