// expect: gpunet::Tensor: the operands have two element types, convert one of them: cast<float>(x)
// Tensors of two element types in one expression.
// PyTorch converts silently; here a conversion is written: `cast<float>(counts)`. Numbers are converted to the tensor's type.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& sums, const Tensor<index_t, Host>& counts) {
  Tensor means = sums * counts;
}
