// expect: gpunet::train::Step: this optimizer makes no update from one evaluation of the loss (LBFGS needs several), call optimizer.step(closure) in a loop of your own
// lines: 30
// LBFGS in `train::Step` or `train::fit`.
// A step of LBFGS evaluates the loss of one batch, usually the whole dataset, several times.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const data::Batch<Host>& batch) {
  optim::LBFGS optimizer(net);
  train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
  step(batch.inputs, batch.labels);
}
