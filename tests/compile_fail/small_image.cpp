// expect: gpunet::nn::Conv2d: the kernel is larger than the padded image
// A kernel of 5 on an image of 4 x 4.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 4, 4>, nn::Conv2d<6, 5>>, Host> net(host);
}
