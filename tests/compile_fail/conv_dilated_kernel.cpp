// expect: gpunet::nn::Conv2d: the kernel is larger than the padded image, use a smaller kernel, a larger image or Padding
// A dilated kernel larger than the image.
// A kernel of 3 with `nn::Dilation<2>` spans 5 pixels.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 4, 4>, nn::Conv2d<8, 3, nn::Dilation<2>>>, Host> net(host);
}
