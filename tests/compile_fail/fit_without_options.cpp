// expect: gpunet::train::fit: the options are missing between the loader and the parts, write {.epochs = 10} there
// Parts of fit without options before them.
// The options come before the parts, as `{.epochs = 10}`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const data::DataLoader<>& loader) {
  train::fit(net, nn::CrossEntropyLoss{}, optimizer, loader, train::ProgressBar());
}
