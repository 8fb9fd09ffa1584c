// expect: gpunet::nn::Sequential: two layers have the same name (their parameters would be one key), rename one
// A name that is the position of an unnamed layer.
// Layers without a name are called 0, 1, 2 and so on by position, as in `torch.nn.Sequential`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<4>, nn::Linear<3>, nn::Named<"0", nn::Linear<2>>>, Host> net(host);
}
