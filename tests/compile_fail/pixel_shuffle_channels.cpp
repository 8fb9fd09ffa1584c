// expect: gpunet::nn::PixelShuffle: the number of channels has to be a multiple of factor^2
// A PixelShuffle of too few channels.
// `nn::PixelShuffle<2>` makes one channel of four: `nn::Conv2d<12, 3>` before it gives three.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::PixelShuffle<2>>, Host> net(host);
}
