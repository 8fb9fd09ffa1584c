// expect: gpunet::Tensor: the result has floats, which a tensor of integers cannot hold, use x = floor_divide(x, y)
// Dividing a tensor of integers in place.
// As in PyTorch, a quotient has floats.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(Tensor<index_t, Host>& sums) {
  sums /= 2;
}
