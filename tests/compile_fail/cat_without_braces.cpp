// expect: gpunet::cat: the tensors stand in braces, write cat({a, b}, 0)
// lines: 30
// Tensors that are joined as single arguments.
// The same holds for `stack`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& a, const Tensor<float, Host>& b) {
  Tensor both = cat(a, b);
}
