// expect: gpunet::View: a loop over a view (its elements may be on a GPU), loop over net.named_parameters() for parameters, over to_vector(device, view) for elements
// lines: 30
// A loop over the parameters.
// `net.parameters()` is one array with all of them; `net.parameters("conv*").requires_grad(false)` freezes some.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  for (auto& parameter : net.parameters())
    parameter = 0;
}
