// expect: gpunet::nn::ConvTranspose2d: the padding leaves no output, use less Padding
// A transposed convolution without an output.
// Padding cuts off rows and columns on all four sides.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 1, 1>, nn::ConvTranspose2d<8, 2, nn::Padding<1>>>, Host> net(
      host);
}
