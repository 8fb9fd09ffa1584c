// expect: gpunet::StridedView: the elements have another type than the view, convert them: cast<float>(x)
// Assigning elements of another type to a part of a tensor.
// `argmax`, `sort` and `one_hot` return integers, comparisons bools.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(Tensor<float, Host>& x, const Tensor<float, Host>& y) {
  x[0] = y[0] > 0.5;
}
