// expect: gpunet::nn::InstanceNorm2d: the input has to have rank 3 [channels, height, width], give Input three sizes
// A normalization of images behind a layer that has flattened them.
// Put `nn::InstanceNorm2d` before `nn::Flatten`; `nn::LayerNorm<>` and `nn::GroupNorm<groups>` take any shape.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::Flatten, nn::InstanceNorm2d>, Host> net(host);
}
