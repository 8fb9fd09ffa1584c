// expect: gpunet::io::dtype_of: files store parameters and tensors of float or double, convert others: cast<float>(x)
// Integers written to a file.
// Convert them: `io::write_tensor("labels.npy", Tensor(cast<float>(labels)))`.
#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/files.hpp>
using namespace gpunet;

void run(const Tensor<std::int16_t, Host>& labels) {
  io::write_tensor("labels.npy", labels);
}
