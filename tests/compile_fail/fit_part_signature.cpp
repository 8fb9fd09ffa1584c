// expect: gpunet::train::fit: the function on_step_end of a part does not take the training (it would never be called), write void on_step_end(train::Training& run)
// A part whose function has other arguments.
// All functions of a part take the training, except `on_exit()`. The training has the epoch, the step and the loss.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct PrintSteps {
  void on_step_end(int) {}
  void on_epoch_end(train::Training&) {}
};

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const data::DataLoader<>& loader) {
  train::fit(net, nn::CrossEntropyLoss{}, optimizer, loader, {.epochs = 2}, PrintSteps{});
}
