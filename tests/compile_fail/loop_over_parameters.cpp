// expect: gpunet::Tensor: elements of tensors are views of another header, include <gpunet/tensors.hpp> (a loop over parameters is one over net.named_parameters())
// lines: 30
// A loop over the parameters.
// `net.parameters()` is one array with all of them; `net.parameters("conv*").requires_grad(false)` freezes some.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net) {
  for (auto& parameter : net.parameters())
    parameter = 0;
}
