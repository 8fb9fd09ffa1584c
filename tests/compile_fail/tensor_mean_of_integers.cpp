// expect: gpunet::mean: the tensor has integers, convert it: mean(cast<float>(x))
// The mean of integers.
// As in PyTorch. The share of a mask is `mean(cast<float>(x > 0))`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<label_t, Host>& predicted, const Tensor<label_t, Host>& labels) {
  const double accuracy = mean(predicted == labels).item();
}
