// expect: gpunet::Tensor: a vector without a shape, write Tensor<float, Host> x(host, {2, 3}, values) for values, empty<float>(host, sizes) for sizes
// lines: 18
// A tensor of a vector without its shape.
// `tensor(host, std::span(values))` makes a tensor of one dimension.
#include <gpunet/tensors.hpp>
using namespace gpunet;

void run(Host& host, const std::vector<index_t>& values) {
  Tensor<index_t, Host> x(host, values);
}
