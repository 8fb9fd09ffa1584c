// expect: gpunet::train::Measure: the metric takes other targets than the loader has (Accuracy, TopK and ConfusionMatrix take labels), give a function of outputs and targets
// The accuracy of a regression.
// Accuracies count labels; of numbers, a function can be measured, such as the mean of `abs(outputs.tensor() - targets)`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const data::DataLoader<float>& loader) {
  nn::MSELoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1});
  train::fit(net, criterion, optimizer, loader, {.epochs = 2},
             train::Measure("top2", train::TopK(net.device(), 2)));
}
