// expect: gpunet::Tensor::view: the tensor is a temporary (the view would outlive its memory), keep the tensor in a variable
// The view of a temporary tensor.
// `auto moved = x.to(device);` stores it; then `moved.view()`. Calls take temporary tensors: `net(x.to(device))`, `step(x.to(device), labels.to(device))`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& device, const Tensor<float, Host>& x) {
  const auto inputs = x.to(device).view();
}
