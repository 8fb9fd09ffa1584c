// expect: gpunet::Tensor: reshape is no method (functions of tensors are free functions of gpunet/tensors.hpp), write reshape(x, ...)
// lines: 45
// A function of tensors as a method, with sizes.
// `x.reshape({2, 3})` in PyTorch is `reshape(x, {2, 3})`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  (x + 1).reshape({2, 3});
}
