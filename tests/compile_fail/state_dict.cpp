// expect: gpunet::Model: files and state dicts are functions, write io::save(net, path), io::load(net, path), and net.copy_state(other) for the state of another model
// lines: 20
// The state dict of a model.
// `io::save` writes it, for PyTorch too.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  net.state_dict();
}
