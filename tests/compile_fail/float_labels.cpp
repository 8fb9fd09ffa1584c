// expect: gpunet::data::TensorDataset: want samples as a Tensor<float, Host> and labels as a Tensor<label_t, Host> (classes from 0), make tensors of these types
// lines: 9
// A TensorDataset whose labels are floats.
// `Tensor<label_t, Host> labels(host, {n}, values)` takes a `std::vector<label_t>`; copy a tensor on Cuda by `to(host)` first.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& inputs, const std::vector<float>& labels) {
  data::TensorDataset dataset(inputs, labels);
}
