// expect: gpunet::nn::CircularPad1d, CircularPad2d, ...: a padding is larger than the extent of the input (there are no more elements to repeat), use less padding or a larger input
// A padding that goes around more than once.
// Two layers `nn::CircularPad1d` one after another do.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8>, nn::CircularPad1d<9>>, Host> net(host);
}
