// expect: gpunet::data::TensorDataset: want samples as a Tensor<float, Host>, and targets as a Tensor<label_t, Host> (classes from 0) or a Tensor<float, Host>, make tensors of these types
// lines: 9
// A TensorDataset whose targets are no tensor.
// `Tensor<label_t, Host> labels(host, {n}, values)` takes a `std::vector<label_t>`; copy a tensor on Cuda by `to(host)` first.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& inputs, const std::vector<float>& labels) {
  data::TensorDataset dataset(inputs, labels);
}
