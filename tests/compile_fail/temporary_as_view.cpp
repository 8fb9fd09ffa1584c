// expect: gpunet::Tensor::view: the tensor is a temporary (the view would outlive its memory), keep the tensor in a variable
// A temporary tensor where a view is wanted.
// A view owns nothing: the tensor has to be in a variable of its own for as long as the view is read.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& device, const Tensor<float, Host>& x) {
  const View<const float, Host> inputs = x.to(device);
}
