// expect: gpunet::Tensor: the elements have another type than the tensor, convert them: cast<float>(x)
// A tensor of another type than its elements.
// `Tensor same = a == b` takes the type of its elements, here bool. Sums and means of a mask: `sum(a == b)`, `mean(cast<float>(a == b))`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& a, const Tensor<float, Host>& b) {
  Tensor<float, Host> same = a == b;
}
