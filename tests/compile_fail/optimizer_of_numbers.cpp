// expect: gpunet::optim: the options of an optimizer are given by name, write optim::SGD optimizer(net, {.lr = 0.1, .momentum = 0.9})
// lines: 18
// A learning rate without its name.
// Options are a struct with PyTorch's names. The same holds for all optimizers.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  optim::SGD optimizer(net, 0.1);
  optimizer.zero_grad();
  optimizer.step();
}
