// expect: gpunet::data::DataLoader: the batches are a temporary (a batch would outlive its memory), keep them in a variable: auto batches = loader.to(device);
// One batch of a loader, as `next(iter(loader))` in PyTorch.
// `auto batches = loader.to(device);` stores the memory of the batches; then `auto [inputs, labels] = *batches.begin();`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& device, const data::DataLoader<>& loader) {
  auto [inputs, labels] = *loader.to(device).begin();
}
