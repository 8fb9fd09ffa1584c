// expect: gpunet::data::DataLoader: the arguments are a dataset and options with the names of DataLoaderOptions, write data::TensorDataset set(X, y); data::DataLoader loader(set, {.batch_size = 4, .shuffle = true})
// lines: 40
// A loader of tensors.
// A loader stores a reference to the dataset, which has to outlive it.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& X, const Tensor<label_t, Host>& y) {
  data::DataLoader loader(X, y, {.batch_size = 4});
}
