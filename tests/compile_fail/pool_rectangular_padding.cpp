// expect: gpunet::nn::MaxPool2d: the padding may be at most half the kernel
// A padding wider than half of the width of rectangular windows.
// One number pads all four sides; `nn::Padding<1, 0>` pads only above and below.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::MaxPool2d<3, nn::KernelWidth<1>, nn::Padding<1>>>,
        Host>
      net(host);
}
