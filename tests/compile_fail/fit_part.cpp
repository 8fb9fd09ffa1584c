// expect: gpunet::train::fit: an argument after the options is not a part of a training, give an object with on_epoch_end(train::Training&) or another of fit's functions
// A schedule passed to fit.
// `fit` needs to know when it steps: `train::EachEpoch(scheduler)` or `train::EachStep(scheduler)`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const data::DataLoader<>& loader) {
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1});
  optim::lr_scheduler::StepLR scheduler(optimizer, {.step_size = 30});
  train::fit(net, criterion, optimizer, loader, {.epochs = 2}, scheduler);
}
