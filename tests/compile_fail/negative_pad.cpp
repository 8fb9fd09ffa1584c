// expect: gpunet::nn::ZeroPad1d, ConstantPad1d, ...: negative paddings leave out more elements than there are, use smaller ones or a larger input
// Negative paddings that leave nothing.
// `nn::ZeroPad2d<-2>` makes images of 4 x 4 of those of 8 x 8.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::ZeroPad2d<-5>>, Host> net(host);
}
