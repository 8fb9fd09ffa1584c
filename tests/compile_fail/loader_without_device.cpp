// expect: gpunet::data::DataLoader: the batches want a device, write for (auto [inputs, labels] : loader.to(device))
// A loop over the loader, as in PyTorch.
// The loader makes batches on the model's device, so that no step waits for a copy; PyTorch's lines `inputs.to(device)` are not needed.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const data::DataLoader<>& loader) {
  for (auto [inputs, labels] : loader)
    static_cast<void>(inputs);
}
