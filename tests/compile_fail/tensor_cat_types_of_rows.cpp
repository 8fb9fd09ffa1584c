// expect: gpunet::cat: the tensors have different element types or kinds of device, convert them
// lines: 20
// Tensors of different element types are joined along the first dimension.
// Convert one of them: `cat({a, cast<float>(b)})`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& a, const Tensor<double, Host>& b) {
  Tensor both = cat({a, b});
}
