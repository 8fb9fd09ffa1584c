// expect: gpunet::nn::AdaptiveAvgPool2d: the input has to have rank 3 [channels, height, width], give Input three sizes
// A pooling of rows.
// `nn::AdaptiveAvgPool2d` takes images; put it before `nn::Flatten`. `nn::AdaptiveAvgPool1d` takes [channels, length].
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<64>, nn::AdaptiveAvgPool2d<1, 1>>, Host> net(host);
}
