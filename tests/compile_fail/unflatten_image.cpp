// expect: gpunet::nn::Unflatten: the input has to have rank 1 [features], use Reshape for other shapes
// An Unflatten of images.
// `nn::Unflatten` takes rows, as behind `nn::Linear`; `nn::Reshape` takes any shape.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::Unflatten<3, 64>>, Host> net(host);
}
