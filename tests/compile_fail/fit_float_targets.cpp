// expect: gpunet::train::fit: the loss has targets of another type than the loader's (classes are label_t, others float), use a loss with its target_type, or a dataset with targets of the loss
// A loss of float targets for a dataset of classes.
// The targets of a loader have the type of its dataset's: `data::TensorDataset(X, y)` with a `Tensor<float, Host> y` has floats.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         optim::SGD<Host, float>& optimizer, const data::DataLoader<>& loader) {
  train::fit(net, nn::MSELoss{}, optimizer, loader, {.epochs = 2});
}
