// expect: gpunet::nn::Sequential: two layers have the same name
// A layer called as an unnamed one is by its position.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<4>, nn::Linear<3>, nn::Named<"0", nn::Linear<2>>>, Host> net(host);
}
