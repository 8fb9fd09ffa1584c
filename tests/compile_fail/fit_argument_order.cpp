// expect: gpunet::nn: this is not a loss (arguments are model, loss, optimizer), give a loss of your own its base: struct MyLoss : nn::LossFunction<MyLoss>
// Optimizer and loss in the wrong order.
// The order is that of the loop: model, loss, optimizer, loader.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const data::DataLoader<>& loader) {
  nn::CrossEntropyLoss criterion;
  train::fit(net, optimizer, criterion, loader, {.epochs = 2});
}
