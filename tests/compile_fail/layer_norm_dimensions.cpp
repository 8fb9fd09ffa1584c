// expect: gpunet::nn::LayerNorm, RMSNorm: the input has fewer dimensions than are normalized, give a smaller number (1 is the last dimension)
// A normalization over more dimensions than a sample has.
// `nn::LayerNorm<>` normalizes the last dimension, `nn::LayerNorm<3>` whole images.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<64>, nn::LayerNorm<3>>, Host> net(host);
}
