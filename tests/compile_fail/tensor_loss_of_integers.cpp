// expect: gpunet::mse_loss: a loss of integers, convert them: mse_loss(cast<float>(x), t)
// lines: 45
// A loss of tensors of integers.
// `mse_loss(cast<float>(x), cast<float>(t))`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<index_t, Host>& x, const Tensor<index_t, Host>& t) {
  Tensor loss = mse_loss(x, t);
}
