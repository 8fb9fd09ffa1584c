// expect: gpunet::data: this is not a dataset, give its type two functions, both const: index_t size() const, and data::Sample operator[](index_t i) const
// A random split of a tensor.
// `random_split`, `Subset` and `ConcatDataset` need a dataset, as a loader does. `data::TensorDataset set(samples, labels)` makes one from tensors.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& samples) {
  auto parts = data::random_split(samples, {0.8, 0.2});
}
