// expect: gpunet::Model: a layer lacks forward(device, pass) or backward(device, pass) for this device and element type, write both (docs/adding_a_layer.md)
// lines: 9
// A layer without forward.
// `nn/layer.hpp` has the contract of a layer.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Swish {
  constexpr auto output(auto in) const { return in; }
};

void run(Host& device, const Tensor<float, Host>& inputs) {
  Model<nn::Sequential<nn::Input<10>, Swish, nn::Linear<2>>, Host> net(device);
  net(inputs);
}
