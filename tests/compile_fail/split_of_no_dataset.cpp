// expect: gpunet::data: this is not a dataset, give its type two functions, both const: index_t size() const, and data::Sample operator[](index_t i) const
// A random split of a tensor.
// `random_split`, `Subset` and `ConcatDataset` need a dataset, as a loader does. A tensor is not one: `data::TensorDataset set(samples, labels)` makes one of it and of the classes.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& samples) {
  auto parts = data::random_split(samples, {0.8, 0.2});
}
