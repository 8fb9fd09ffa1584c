// expect: gpunet::Tensor: elements of tensors are views of another header, include <gpunet/tensors.hpp> (a loop over parameters is one over net.named_parameters())
// lines: 20
// An element of a tensor without the header of tensors.
// `gpunet/gpunet.hpp` does not include it, because training needs none of it.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Host>& net,
         const Tensor<float, Host>& x) {
  net(x).argmax(1)[0];
}
