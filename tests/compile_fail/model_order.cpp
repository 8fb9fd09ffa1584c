// expect: gpunet::Model: the arguments are a device, which comes first, and layers, write Model net(host, Net{}) or Model<Net, Host> net(host)
// lines: 30
// A model whose device is last.
// The same holds for a `Model<Net, Host>` of layers alone.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

using Net = nn::Sequential<nn::Input<10>, nn::Linear<2>>;

void run(Host& host) {
  Model net(Net{}, host);
}
