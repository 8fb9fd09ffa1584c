// expect: gpunet::Tensor: mean is no method (functions of tensors are free functions of gpunet/tensors.hpp), write mean(x, ...)
// lines: 45
// A function of tensors as a method.
// `x.mean(0)` in PyTorch is `mean(x, 0)`. Methods are `size`, `numel`, `view`, `item`, `to_vector`, `clone` and `to`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  x.mean(0);
}
