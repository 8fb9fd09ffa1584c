// expect: gpunet::train::fit: a number in the place of the options (it could be epochs or steps), write {.epochs = 5} or {.max_steps = 100}
// The epochs of fit as a number.
// Options have names: `{.epochs = 5}`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const data::DataLoader<>& loader) {
  train::fit(net, nn::CrossEntropyLoss{}, optimizer, loader, 5);
}
