// expect: gpunet::nn::ZeroPad2d, ReflectionPad2d, ...: the input has to have rank 3 [channels, height, width], give Input three sizes
// A border around rows.
// `nn::ZeroPad2d` takes images; put it before `nn::Flatten`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<64>, nn::ZeroPad2d<1>>, Host> net(host);
}
