// expect: gpunet::Tensor: a tensor without a device, write Tensor<float, Host>
// lines: 20
// A type of tensors without a device.
// The device is part of the type, so that data of one kind of device cannot reach a kernel of another.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& host) {
  Tensor<float> x;
}
