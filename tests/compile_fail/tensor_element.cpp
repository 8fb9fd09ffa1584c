// expect: gpunet::Tensor: no arithmetic with elements of this type, make the tensor of float, double, std::int32_t, index_t, std::uint8_t or bool
// Arithmetic with numbers of 16 bits.
// Make a `Tensor<std::int32_t, Host>` of them.
#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<std::int16_t, Host>& a, const Tensor<std::int16_t, Host>& b) {
  Tensor sum = a + b;
}
