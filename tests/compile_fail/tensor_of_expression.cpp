// expect: gpunet::Expression: an expression is used once (it has no memory of its own), make a tensor of it: Tensor y = a + b
// lines: 18
// A tensor of an expression with a name.
// Write `Tensor e = x + 1;` instead of `auto`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  auto e = x + 1;
  Tensor y = e;
}
