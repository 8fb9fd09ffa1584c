// expect: gpunet::nn::Conv1d: the input has to have rank 2 [channels, length], give Input two sizes
// A Conv1d of images.
// `nn::Conv2d` takes images. `nn::Unflatten<1, 784>` makes one row of `nn::Input<784>`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::Conv1d<8, 3>>, Host> net(host);
}
