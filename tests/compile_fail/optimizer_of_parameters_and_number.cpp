// expect: gpunet::optim::Adam: the arguments are a model, or net.parameters(pattern), and options with the names of AdamOptions, write optim::Adam optimizer(net, {.lr = 0.1})
// lines: 30
// Parameters and a learning rate.
// `optim.Adam(net.parameters(), lr=1e-3)` in PyTorch is `optim::Adam optimizer(net, {.lr = 1e-3})`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  optim::Adam optimizer(net.parameters(), 1e-3);
}
