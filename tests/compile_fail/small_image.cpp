// expect: gpunet::nn::Conv2d: the kernel is larger than the padded image, use a smaller kernel, a larger image or Padding
// A kernel of 5 on an image of 4 x 4.
// `nn::Conv2d<6, 5, nn::Padding<2>>` keeps the size of the image. Pooling makes the image smaller: `summary(net)` prints all shapes.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 4, 4>, nn::Conv2d<6, 5>>, Host> net(host);
}
