// expect: gpunet::Model: the targets have another type than the loss wants (labels are Tensor<label_t, D>), or are on another kind of device than the model
// Labels of 64 bits, as in PyTorch.
// `label_t` is an integer of 32 bits: `Tensor<label_t, Host> labels(device, {n}, values)` with a `std::vector<label_t>`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         View<const float, Host> inputs, const Tensor<std::int64_t, Host>& labels) {
  nn::CrossEntropyLoss criterion;
  criterion(net(inputs), labels);
}
