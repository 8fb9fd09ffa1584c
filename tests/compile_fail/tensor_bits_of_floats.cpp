// expect: gpunet::Tensor: & and | of floats, compare them first: (x > 0) & (x < 1)
// Numbers as conditions.
// `&`, `|` and `^` are of bools and integers: `(x != 0) & (y != 0)`, or `logical_and(x, y)`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x, const Tensor<float, Host>& y) {
  Tensor both = x & y;
}
