// expect: gpunet::nn::Dropout2d: the input has to have rank 3 [channels, height, width], use Dropout for other shapes
// A dropout of channels in rows.
// `nn::Dropout2d` zeroes whole channels of images, `nn::Dropout` single numbers.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<64>, nn::Dropout2d>, Host> net(host);
}
