// expect: deleted
// note: gpunet::Model: copy it by Model<Net, Host> copy(host, net)
// A copy of a model.
// The compiler shows this line in a note.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

using Net = nn::Sequential<nn::Input<10>, nn::Linear<2>>;

void run(Model<Net, Host>& net) {
  Model<Net, Host> other = net;
}
