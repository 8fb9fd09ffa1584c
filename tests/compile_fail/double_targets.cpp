// expect: gpunet::data::TensorDataset: want targets as a Tensor<label_t, Host> (classes from 0) or a Tensor<float, Host>, make a tensor of one of these types
// A TensorDataset whose targets are double.
// Samples and targets are `float`, also for a network of `double`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& inputs, const Tensor<double, Host>& targets) {
  data::TensorDataset dataset(inputs, targets);
}
