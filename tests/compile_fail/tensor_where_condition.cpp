// expect: gpunet::where: the condition has to be a tensor of bools: x > 0
// A condition of numbers.
// Write what is asked of the numbers: `x != 0`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  Tensor y = where(x, x, 1);
}
