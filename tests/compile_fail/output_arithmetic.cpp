// expect: gpunet::Output: no arithmetic with outputs (their gradient comes from a loss), write net(x).tensor() for a copy, or a network of values that does it: Network net(host, f, {4})
// lines: 40
// Arithmetic with an output.
// The copy is a tensor: `Tensor error = net(x).tensor() - y;`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const Tensor<float, Host>& x) {
  auto error = net(x) - x;
}
