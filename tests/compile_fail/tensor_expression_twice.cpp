// expect: gpunet::Expression: an expression is used once (it has no memory of its own), make a tensor of it: Tensor y = a + b
// An expression with a name as an operand.
// `auto y = a + b` is not computed yet, and refers to `a` and `b`; `Tensor y = a + b` is a tensor.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& a, const Tensor<float, Host>& b) {
  auto y = a + b;
  Tensor z = y * y;
}
