// expect: gpunet::nn::operator>: no comparisons of values (they have no gradient), write relu(x), maximum(a, b), clamp(x, min, max), or elementwise(x, f) with a functor of yours
// lines: 25
// A comparison of a value in a function of values.
// `relu(x)` is `(x > 0) * x`. [adding_a_layer.md](adding_a_layer.md) shows functors.
#include <gpunet/functional.hpp>
using namespace gpunet;

nn::Value rectified(nn::Value x) {
  return (x > 0) * x;
}
