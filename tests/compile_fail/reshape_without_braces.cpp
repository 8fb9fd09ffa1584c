// expect: gpunet::reshape: the numbers stand in braces, write reshape(x, {1, 2})
// lines: 30
// Sizes of reshape as single arguments.
// The same holds for `permute` and `expand`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  Tensor y = reshape(x, 2, 3);
}
