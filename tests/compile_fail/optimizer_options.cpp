// expect: gpunet::optim::Adam: the arguments are a model, or net.parameters(pattern), and options with the names of AdamOptions, write optim::Adam optimizer(net, {.lr = 0.1})
// lines: 30
// An option that an optimizer does not have.
// Names are PyTorch's: `.lr`, `.momentum`, `.weight_decay`, in the order of `optim::AdamOptions`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  optim::Adam optimizer(net, {.learning_rate = 0.01});
}
