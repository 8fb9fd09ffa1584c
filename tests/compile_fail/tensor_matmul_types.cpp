// expect: gpunet::matmul: the operands have to be float or double, both the same, convert them: cast<float>(x)
// A product of matrices of integers.
// `one_hot` returns index_t: `matmul(cast<float>(one_hot(words, 100)), table)`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<index_t, Host>& words, const Tensor<float, Host>& table) {
  Tensor rows = matmul(one_hot(words, 100), table);
}
