// expect: gpunet::data::DataLoader: the batches want a device, write for (auto [inputs, labels] : loader.to(device))
// A loop over the loader, as in PyTorch.
// Batches are made where the model is, so that no step waits for a copy; PyTorch's two lines `inputs.to(device)` go.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const data::DataLoader& loader) {
  for (auto [inputs, labels] : loader)
    static_cast<void>(inputs);
}
