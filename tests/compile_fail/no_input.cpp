// expect: gpunet::Model: the first argument of its Sequential is no Input
// A network that does not say what enters it.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Linear<3>, nn::ReLU>, Host> net(host);
}
