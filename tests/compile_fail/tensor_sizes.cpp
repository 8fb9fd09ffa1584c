// expect: gpunet::Tensor: sizes without braces, write Tensor<float, Host> x(host, {2, 3})
// lines: 20
// Sizes as single arguments.
// `zeros(host, {2, 3})` takes them in braces too.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& host) {
  Tensor<float, Host> x(host, 2, 3);
}
