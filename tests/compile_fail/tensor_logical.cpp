// expect: gpunet::Tensor: && and || of tensors, write & and |: (x > 0) & (x < 1)
// lines: 35
// Conditions joined by &&.
// As in PyTorch, where `and` is an error at run time.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  Tensor inside = x > 0 && x < 1;
}
