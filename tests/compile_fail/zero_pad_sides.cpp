// expect: gpunet::nn::ZeroPad2d, ReflectionPad2d, ...: give one padding, or four: left, right, top, bottom
// A border of two numbers.
// `nn::ZeroPad2d<1, 1, 0, 0>` pads left and right.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::ZeroPad2d<1, 2>>, Host> net(host);
}
