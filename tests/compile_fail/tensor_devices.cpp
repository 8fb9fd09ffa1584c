// expect: gpunet::Tensor: the operands are on two kinds of device, move one of them with to(device)
// Tensors on two kinds of device in one expression.
// `y.to(x.device())` copies a tensor. A tensor of one element is a number by `item()`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x, View<const float, Cuda> y) {
  Tensor z = x + y;
}
