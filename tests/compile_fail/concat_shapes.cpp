// expect: gpunet::nn::Concat: the branches make shapes that differ in another dimension than the one along which they are joined, let the others be the same
// Images of different sizes that are joined.
// `Padding<1>` keeps the size of the image.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<4, 8, 8>, nn::Concat<1, nn::Conv2d<6, 3>, nn::Identity>>, Host>
      net(host);
}
