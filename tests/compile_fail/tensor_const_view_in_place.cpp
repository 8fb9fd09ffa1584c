// expect: gpunet::StridedView: the view is of a const tensor (which is not to be written), view one that is not const
// Adding to a part of a const tensor.
// Take the tensor by `Tensor<float, Host>&`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  x[0] += 1;
}
