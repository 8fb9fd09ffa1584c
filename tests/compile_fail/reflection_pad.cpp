// expect: gpunet::nn::ReflectionPad1d, ReflectionPad2d, ...: a padding is not less than the extent of the input (there are no more elements to reflect), use less padding or a larger input
// A reflection of more rows than there are: 8 rows have 7 below the first one.
// `nn::ReplicationPad2d<8>` repeats the outermost elements any number of times.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 9>, nn::ReflectionPad2d<8>>, Host> net(host);
}
