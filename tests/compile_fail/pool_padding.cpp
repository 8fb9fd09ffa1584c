// expect: gpunet::nn::AvgPool2d: the padding may be at most half the kernel
// A padding wider than half of the windows of a pooling.
// Whole windows of padding would follow. PyTorch refuses it when the network runs.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::AvgPool2d<3, nn::Padding<2>>>, Host> net(host);
}
