// expect: gpunet::softmax: the tensor has integers, convert it: softmax(cast<float>(x), 1)
// A softmax of integers.
// The same holds for `log_softmax` and `logsumexp`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<index_t, Host>& x) {
  Tensor y = softmax(x, 1);
}
