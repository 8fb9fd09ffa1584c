// expect: gpunet::Tensor: the device is a temporary (it has to outlive the tensor), keep it in a variable: Host host;
// lines: 20
// A tensor on a temporary device.
// A tensor refers to its device.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

Tensor<float, Host> x(Host(), {2, 3});
