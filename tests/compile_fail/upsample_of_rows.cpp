// expect: gpunet::nn::Upsample: the input has to have rank 3 [channels, height, width], for Nearest also 2 [channels, length] or 4 [channels, depth, height, width]
// An Upsample of rows.
// `nn::Unflatten<channels, height, width>` before it makes images of rows.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<64>, nn::Upsample<2>>, Host> net(host);
}
