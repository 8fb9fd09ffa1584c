// expect: gpunet::nn::Concat: the branches make shapes of too few dimensions, give a smaller dimension (1 is the first one of a sample)
// A dimension that the values lack.
// The batch is dimension 0, channels are 1, rows 2 and columns 3.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<4, 8, 8>, nn::Concat<4, nn::Identity, nn::Identity>>, Host> net(
      host);
}
