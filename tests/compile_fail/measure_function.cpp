// expect: gpunet::train::Measure: the function cannot be called with the outputs of a network and a tensor of the targets, write [](const auto& outputs, const auto& targets) { return ...; }
// A measure of the outputs alone.
// A function that does not need the targets leaves their name out: `[](const auto& outputs, const auto&) { return ...; }`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const data::DataLoader<>& loader) {
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1});
  const auto size = [](const Output<Host, float>& outputs) {
    return outputs.batch();
  };
  train::fit(net, criterion, optimizer, loader, {.epochs = 2}, train::Measure("size", size));
}
