// expect: gpunet::Tensor: the elements have another type than the tensor, convert them: cast<float>(x)
// Assigning elements of another type to a tensor.
// The type of a tensor does not change: name the result anew, `Tensor mask = x > 0`, or convert it.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(Tensor<float, Host>& x) {
  x = x > 0;
}
