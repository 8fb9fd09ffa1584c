// expect: gpunet::split: the parts are views, which a temporary tensor would not outlive, keep it in a variable: Tensor y = 2 * x
// lines: 30
// Parts of a temporary tensor.
// `Tensor doubled = 2 * x;`, and `split(doubled, 3)`. The same holds for `chunk`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  auto parts = split(2 * x, 3);
}
