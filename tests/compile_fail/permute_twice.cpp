// expect: gpunet::nn::Permute: the dimensions have to be 0, 1, ... in any order, each once (those of a sample, without the batch)
// A permutation that names a dimension twice.
// `nn::Permute<2, 0, 1>` makes [channels, height, width] of [height, width, channels].
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<8, 8, 3>, nn::Permute<2, 0, 0>>, Host> net(host);
}
