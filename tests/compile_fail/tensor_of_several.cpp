// expect: gpunet::Tensor: the function returns several tensors, name them, or take one: auto [values, indices] = topk(x, 3), Tensor y = topk(x, 3).values
// lines: 18
// A tensor of the values and indices of `topk`.
// Take one of them, `Tensor largest = topk(x, 3).values;`. The same holds for `sort`, `unique`, and `max` and `min` along a dimension.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  Tensor largest = topk(x, 3);
}
