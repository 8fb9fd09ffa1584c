// expect: gpunet::Tensor: the arguments are in another order, write Tensor<float, Host> x(host, {2, 3}, values)
// lines: 20
// A tensor without its device.
// The device comes first, then the sizes, then the values.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const std::vector<float>& values) {
  Tensor<float, Host> x({2, 3}, values);
}
