// expect: gpunet::nn::ConstantPad1d, ConstantPad2d, ConstantPad3d: a constant is missing, write nn::ConstantPad2d<1>{0.5}, or nn::ZeroPad2d<1>
// A padding without its constant.
// A `nn::Sequential` of values takes it: `nn::Sequential(nn::Input<3, 8, 8>{}, nn::ConstantPad2d<1>{0.5})`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::ConstantPad2d<1>>, Host> net(host);
}
