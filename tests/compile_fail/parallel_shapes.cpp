// expect: gpunet::nn::Parallel: the branches make different shapes (they are added), let all make the same, or join them by Concat
// Branches of different shapes that are added.
// `Concat<1, ...>` joins their channels.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<4, 8, 8>, nn::Parallel<nn::Conv2d<6, 1>, nn::Identity>>, Host> net(
      host);
}
