// expect: gpunet::nn::MaxPool1d: the input has to have rank 2 [channels, length], give Input two sizes
// A one-dimensional pooling of images.
// `nn::MaxPool2d` takes images.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::MaxPool1d<2>>, Host> net(host);
}
