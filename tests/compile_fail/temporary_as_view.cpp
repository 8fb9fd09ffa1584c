// expect: gpunet::Tensor::view: the tensor is a temporary (the view would outlive its memory), keep the tensor in a variable
// A temporary tensor as a view.
// A view owns no memory: store the tensor in a variable that lives as long as the view.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& device, const Tensor<float, Host>& x) {
  const View<const float, Host> inputs = x.to(device);
}
