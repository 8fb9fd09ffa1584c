// expect: gpunet::Model: the inputs have another element type than the model (float, unless its third argument says otherwise), make them of the same
// Inputs of type double for a model of type float.
// `Tensor<float, Host>` takes a `std::vector<float>`; `table.numbers<double>()` is for `Model<Net, Host, double>`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const Tensor<double, Host>& inputs) {
  net(inputs);
}
