// expect: gpunet::Parameters: a loop over parameters (they are one array), call net.parameters(pattern).requires_grad(false) for all of them, or loop over net.named_parameters()
// lines: 30
// A loop over some parameters.
// Each entry of `net.named_parameters()` has a name, sizes and its place in the array.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  for (auto& parameter : net.parameters("0.*"))
    parameter.requires_grad(false);
}
