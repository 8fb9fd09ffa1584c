// expect: gpunet::train::evaluate: the loss has targets of another type than the loader's (classes are label_t, others float), use a loss with its target_type, or a dataset with targets of the loss
// A loss of classes for a dataset of float targets.
// `data::TensorDataset(X, y)` with a `Tensor<label_t, Host> y` has classes.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const data::DataLoader<float>& loader) {
  train::evaluate(net, nn::CrossEntropyLoss{}, loader);
}
