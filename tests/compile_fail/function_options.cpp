// expect: gpunet::nn::conv2d: no function of values takes these arguments, include <gpunet/functional.hpp>, and give options by name: linear(x, 8, {.bias = false})
// lines: 45
// Options of a function of values without names.
// `conv2d(x, 8, 3, {.stride = 1, .padding = 1})`.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& host) {
  Network net(host, [](nn::Value x) { return conv2d(x, 8, 3, 1, 1); }, {3, 8, 8});
}
