// expect: deleted
// note: gpunet::train::fit: use names of FitOptions
// An option that fit does not have.
// They are `.epochs`, `.max_steps`, `.accumulate`, `.scaler`, `.resume`, `.save_every`,
// `.keep_last` and `.generator`, in this order.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const data::DataLoader<>& loader) {
  train::fit(net, nn::CrossEntropyLoss{}, optimizer, loader, {.epoch = 10});
}
