// expect: gpunet::optim: an optimizer takes the model, or parameters that a pattern names, write optim::SGD optimizer(net, {.lr = 0.1}), or net.parameters(pattern) for net
// lines: 10
// An optimizer of net.parameters(), as in PyTorch.
// `net.parameters()` is the array of all parameters. The same holds for all optimizers.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  optim::SGD optimizer(net.parameters(), {.lr = 0.1});
  optimizer.zero_grad();
  optimizer.step();
}
