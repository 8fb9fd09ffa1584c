// expect: gpunet::data::TensorDataset: the arguments are a tensor of samples and one of targets, write data::TensorDataset set(X, y)
// lines: 30
// A dataset without targets.
// For the inputs alone, call the network: `net(X)`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& X) {
  data::TensorDataset set(X);
}
