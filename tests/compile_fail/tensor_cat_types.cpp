// expect: gpunet::cat: the tensors have different element types or kinds of device, convert them
// Tensors of different element types are joined.
// Convert one of them: `cat({a, cast<float>(b)}, 0)`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& a, const Tensor<double, Host>& b) {
  Tensor both = cat({a, b}, 0);
}
