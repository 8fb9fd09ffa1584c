// expect: gpunet::nn::Conv2d: the input has to have rank 3 [channels, height, width]
// A convolution over rows of features.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, nn::Conv2d<6, 5>>, Host> net(host);
}
