// expect: gpunet::zeros: these are not a device and sizes in braces, write zeros(host, {2, 3})
// lines: 30
// Zeros without a device.
// The same holds for `ones`, `empty`, `rand` and `randn`.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(Host& host) {
  Tensor x = zeros(2, 3);
}
