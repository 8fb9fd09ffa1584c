// expect: gpunet::Model: the arguments are a device, which comes first, and layers, write Model net(host, Net{}) or Model<Net, Host> net(host)
// lines: 50
// A type of models without a device.
// The device is part of the type.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

using Net = nn::Sequential<nn::Input<10>, nn::Linear<2>>;

void run(Host& host) {
  Model<Net> net(host);
}
