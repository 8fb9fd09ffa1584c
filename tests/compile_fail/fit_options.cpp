// expect: deleted
// note: fit: no such option, FitOptions lists them
// An option that fit does not have.
// The compiler shows the names in a note.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const data::DataLoader<>& loader) {
  train::fit(net, nn::CrossEntropyLoss{}, optimizer, loader, {.epoch = 10});
}
