// expect: gpunet::Expression: a number with a fraction meets a tensor of integers (it would be cut off), convert the tensor first: cast<float>(x)
// A fraction beside a tensor of integers.
// In PyTorch the result has floats: `cast<float>(labels) * 0.5`. Quotients are floats anyway: `labels / 2`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<index_t, Host>& labels) {
  Tensor half = labels * 0.5;
}
