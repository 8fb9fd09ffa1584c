// expect: deleted
// note: gpunet::Tensor: write x.clone() to copy, or std::move(x)
// A copy of a tensor.
// The compiler shows this line in a note. A function takes a tensor by reference, a vector gets it by `std::move(x)`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(const Tensor<float, Host>& x) {
  Tensor<float, Host> y = x;
}
