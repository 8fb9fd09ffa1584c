// expect: gpunet::Model: the first argument of its Sequential is no Input, begin with the shape of one sample: Input<3, 32, 32>
// A network without Input.
// All further shapes are inferred from it. Omit the batch size.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Linear<3>, nn::ReLU>, Host> net(host);
}
