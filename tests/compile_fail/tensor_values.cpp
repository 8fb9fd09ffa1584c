// expect: gpunet::Tensor: the values are no std::vector of the tensor's element type, convert them: std::vector<float>(values.begin(), values.end()), or write full(host, {2, 3}, value) for one number
// lines: 20
// Values of another type than the elements.
// The same holds for `std::array`, `std::span`, a pointer and a number. `Tensor<double, Host>` takes a `std::vector<double>`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& host, const std::vector<double>& values) {
  Tensor<float, Host> x(host, {2, 3}, values);
}
