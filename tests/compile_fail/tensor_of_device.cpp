// expect: gpunet::Tensor: the element type and the device do not follow from the arguments, write Tensor<float, Host> x(host, {2, 3}, values) with a std::vector<float>, or tensor(host, {1.5f, 2.5f})
// lines: 20
// A tensor of arguments that are none of its constructors.
// A tensor with sizes alone is `empty<float>(host, {2, 3})`; its elements have any values.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& host) {
  Tensor x(host);
}
