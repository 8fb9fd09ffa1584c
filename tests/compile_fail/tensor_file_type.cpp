// expect: gpunet::io::dtype_of: files store tensors of float, double, std::int32_t, index_t, std::uint8_t or bool, convert others: cast<float>(x)
// Integers of a type that tensors do not compute with, written to a file.
// Make the tensor of `std::int32_t`.
#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/files.hpp>
using namespace gpunet;

void run(const Tensor<std::int16_t, Host>& labels) {
  io::write_tensor("labels.npy", labels);
}
