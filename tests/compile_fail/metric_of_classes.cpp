// expect: gpunet::train: a metric takes what a model returns (it computes the classes itself), write update(net(inputs), labels)
// Predicted classes as the outputs of a metric.
// `update` finds the largest output of each sample on the device; `argmax(1)` is not needed.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         train::Accuracy<Host>& accuracy, const Tensor<float, Host>& inputs,
         const Tensor<label_t, Host>& labels) {
  accuracy.update(net(inputs).argmax(1), labels);
}
