// expect: gpunet::amax: a tensor of bools, use any(x) or all(x), or convert it: cast<std::uint8_t>(x)
// The largest of bools.
// `any(x > 0, 1)` is true where one of the row is.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  Tensor found = amax(x > 0, 1);
}
