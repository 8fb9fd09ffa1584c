// expect: gpunet::optim::LBFGS: it has no groups of parameters (they move along one direction, by one length), give it some parameters, optim::LBFGS optimizer(net.parameters(pattern)), or take another optimizer
// lines: 10
// Groups of parameters of LBFGS.
// As in PyTorch, all parameters of LBFGS have the same options.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  optim::LBFGS optimizer(net);
  optimizer.add_param_group(net.parameters("*.bias"), {.lr = 0.1});
}
