// expect: gpunet::train::fit: a part of the training is const (its functions change it), give an object that is not
// A part that is const.
// A part such as `EarlyStopping` counts epochs. One whose functions are const may be const too.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const data::DataLoader<>& loader) {
  const train::EarlyStopping early_stopping({.patience = 3});
  train::fit(net, nn::CrossEntropyLoss{}, optimizer, loader, {.epochs = 2}, early_stopping);
}
