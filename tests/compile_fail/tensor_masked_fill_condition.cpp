// expect: gpunet::masked_fill: the mask has to be a tensor of bools: x > 0
// A mask of floats.
// Compare it with a number: `masked_fill(x, mask != 0, 1)`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x, const Tensor<float, Host>& mask) {
  Tensor y = masked_fill(x, mask, 1);
}
