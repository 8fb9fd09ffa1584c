// expect: gpunet::nn::Conv2d: the groups do not divide the input channels, use Groups that divide the channels of input and output
// Groups that do not divide the channels of the input.
// Each group has as many channels as another: 6 channels have 1, 2, 3 or 6 groups.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<6, 8, 8>, nn::Conv2d<8, 3, nn::Groups<4>>>, Host> net(host);
}
