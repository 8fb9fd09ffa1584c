// expect: gpunet::nn::Conv2d: the dilation has to be at least 1
// A dilation of 0.
// `nn::Dilation<1>` is the default: neighboring weights read neighboring pixels.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::Conv2d<8, 3, nn::Dilation<0>>>, Host> net(host);
}
