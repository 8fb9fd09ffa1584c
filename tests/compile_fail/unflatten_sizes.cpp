// expect: gpunet::nn::Reshape, Unflatten: the sizes do not hold as many elements as the input, give sizes with the same product
// A shape of another number of elements.
// One size may be -1: `nn::Unflatten<16, -1, 7>` computes it.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<64>, nn::Unflatten<16, 7, 7>>, Host> net(host);
}
