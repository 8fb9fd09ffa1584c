// expect: gpunet::train::Step: a loss or an optimizer of this program runs on Cuda, and only a CUDA compiler makes kernels of it, compile this unit with nvcc
#include <gpunet/gpunet.hpp>

using namespace gpunet;

struct SmoothLoss : nn::CrossEntropyLoss {};
using Net = nn::Sequential<nn::Input<4>, nn::Linear<3>>;

int main() {
  Cuda device;
  Model<Net, Cuda> net(device);
  optim::SGD optimizer(net, {.lr = 0.1});
  train::Step step(net, SmoothLoss{}, optimizer);
}
