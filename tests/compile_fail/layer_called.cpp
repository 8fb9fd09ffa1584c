// expect: gpunet::nn: a layer is not called (it has no parameters before a network is made), write nn::apply<1>(nn::Linear<8>{}, x), 1 the dimensions of a sample, or linear(x, 8) for values, and Model net(host, nn::Sequential(...)) for tensors
// lines: 45
// A layer called as a function.
// A `Model` is called with tensors; in a function of values, `nn::apply` calls any layer.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& host) {
  Network net(host, [](nn::Value x) { return nn::Linear<8>{}(x); }, {4});
}
