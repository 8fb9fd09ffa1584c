// expect: gpunet::nn::Linear: the input has to have rank 1 [features], put a Flatten before it
// A missing Flatten.
// `nn::Flatten` reshapes [channels, height, width] to one row, as `torch.flatten(x, 1)` does.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 4, 4>, nn::Linear<2>>, Host> net(host);
}
