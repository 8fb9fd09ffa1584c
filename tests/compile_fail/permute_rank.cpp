// expect: gpunet::nn::Permute: the input has another number of dimensions, name each dimension of a sample once (without the batch)
// A permutation with the batch.
// `x.permute(0, 3, 1, 2)` is `nn::Permute<2, 0, 1>`: dimensions of a sample are counted without the batch.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<8, 8, 3>, nn::Permute<0, 3, 1, 2>>, Host> net(host);
}
