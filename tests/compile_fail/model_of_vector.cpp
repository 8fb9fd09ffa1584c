// expect: gpunet::Model: the input is no tensor, make one of numbers: Tensor<float, Host> x(host, {batch, 4}, values), give batch.inputs of a batch
// lines: 20
// A model called with a vector.
// The first dimension of an input is the batch.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const std::vector<float>& values) {
  net(values);
}
