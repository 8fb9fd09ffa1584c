// expect: gpunet::Tensor: arithmetic of bools, use & and |, or convert them: cast<float>(x)
// Arithmetic of bools.
// `a & b` where both are true, `a | b` where one is, `!a`; PyTorch's `~a` is `!a`. How many are true: `sum(a)`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<bool, Host>& a, const Tensor<bool, Host>& b) {
  Tensor both = a * b;
}
