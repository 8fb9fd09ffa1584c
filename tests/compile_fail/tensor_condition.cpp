// expect: gpunet::Tensor: a tensor as a condition (it has many elements), write any(x > 0).item(), all(x > 0).item(), or x.item() of one element
// lines: 20
// A tensor in an if.
// As in PyTorch, where it is an error at run time.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  if (x > 0) return;
}
