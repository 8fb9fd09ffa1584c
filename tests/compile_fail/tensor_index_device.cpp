// expect: gpunet::index_select: the indices are on another kind of device than the tensor, move them: x.to(device)
// Indices on a GPU for a tensor on the host.
// `rows.to(x.device())` copies a tensor.
#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x, View<const index_t, Cuda> rows) {
  Tensor y = index_select(x, 0, rows);
}
