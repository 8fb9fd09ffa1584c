// expect: gpunet::Network: the arguments are a device, a function of values and the sizes of one sample in braces, write Network net(host, [](nn::Value x) { return linear(x, 3); }, {4}), and Model net(host, Net{}) for layers
// lines: 50
// The sizes of a network without braces.
// The sizes are those of one sample, without the batch.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& host) {
  Network net(
      host, [](nn::Value x) { return linear(x, 3); }, 4);
}
