// expect: gpunet::nn::Value: no elements of values (dimension 0 is the batch), write narrow(x, 1, i, 1) for a part of a dimension
// lines: 18
// An element of a value.
// `x[0]` would be the first sample of the batch. `narrow(x, 1, 0, 1)` is the first feature of each sample.
#include <gpunet/functional.hpp>
using namespace gpunet;

nn::Value first(nn::Value x) {
  return x[0];
}
