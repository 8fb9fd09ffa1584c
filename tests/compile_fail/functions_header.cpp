// expect: gpunet::nn::linear: no function of values takes these arguments, include <gpunet/functional.hpp>, and give options by name: linear(x, 8, {.bias = false})
// lines: 45
// A function of values without its header.
// `gpunet/gpunet.hpp` does not include it: a header-only program would read all of its kernels.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& host) {
  Network net(host, [](nn::Value x) { return relu(linear(x, 3)); }, {4});
}
