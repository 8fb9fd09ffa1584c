// expect: gpunet::Tensor: no arithmetic with elements of this type, make the tensor of float, double, std::int32_t, index_t, std::uint8_t or bool
// A tensor of `long long`.
// Write `zeros<index_t>(host, {2})`: integers of 64 bits are `index_t`, which is another type than `long long` on Linux.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(Host& host) {
  Tensor counts = zeros<long long>(host, {2});
}
