// expect: gpunet::nn::Conv2d: the input has to have rank 3 [channels, height, width], give Input three sizes
// A convolution over rows of features.
// Gray images have one channel: `nn::Input<1, 28, 28>`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, nn::Conv2d<6, 5>>, Host> net(host);
}
