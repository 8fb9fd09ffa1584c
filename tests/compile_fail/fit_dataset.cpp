// expect: gpunet::train: this is not a loader (a dataset has no batches), write data::DataLoader loader(set, {.batch_size = 4})
// A dataset instead of a loader.
// `fit`, `evaluate` and `Validation` take a `data::DataLoader`, or the batches of `loader.resident_on(device)`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const data::TensorDataset<>& set) {
  train::fit(net, nn::CrossEntropyLoss{}, optimizer, set, {.epochs = 2});
}
