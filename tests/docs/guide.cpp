// What the snippets of docs/guide.md call by name. Each of them compiles here, one after the other.
#include <thread>

#include <gpunet/datasets.hpp>
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/networks.hpp>
#include <gpunet/plot.hpp>
#include <gpunet/tables.hpp>
#include <gpunet/tensorboard.hpp>
#include <gpunet/tensors.hpp>

using namespace gpunet;

int main() {
  using Net = nn::Sequential<nn::Input<4>, nn::Linear<3>>;
  Host host;
  Host& device = host;
  Model net(device, nn::Sequential(nn::Input<3, 32, 32>(), nn::Flatten(), nn::Linear<10>()));
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.001});
  optim::lr_scheduler::StepLR scheduler(optimizer, {.step_size = 1});
  const auto train_set = data::Shapes::train(8), test_set = data::Shapes::test(8);
  data::DataLoader loader(train_set, {.batch_size = 4}), test_loader(test_set, {.batch_size = 4});
  const std::vector<double> train_losses, test_losses;
#include "snippets.inl"
}
