// expect: gpunet::Tensor::view: the tensor is a temporary (the view would outlive its memory), keep the tensor in a variable
// A flattened temporary tensor.
// `auto images = x.to(device);` stores it; then `net(images.view().flatten(1))`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<784>, nn::Linear<10>>, Host>& net,
         const Tensor<float, Host>& x) {
  net(x.to(net.device()).view().flatten(1));
}
