// expect: gpunet::nn::AvgPool2d: the kernel is larger than the padded image, use a smaller kernel, a larger image or Padding
// A pooling with windows larger than the image.
// `nn::AdaptiveAvgPool2d<1, 1>` averages images of any size.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 7, 7>, nn::AvgPool2d<8>>, Host> net(host);
}
