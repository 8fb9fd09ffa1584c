#include <doctest/doctest.h>
#include <sstream>
#include <vector>

#include <gpunet/tensor/print.hpp>

#include "reference/printed_tensors.hpp"
#include "support/devices.hpp"

using namespace gpunet;

namespace {

template <class T>
std::string text_of(const reference::PrintedTensor& expected) {
  Sizes sizes;
  for (long n : expected.sizes)
    sizes.append(n);
  std::vector<T> values;
  for (double value : expected.values)
    values.push_back(static_cast<T>(value));
  // The rest goes by steps.
  while (!values.empty() && static_cast<index_t>(values.size()) < sizes.numel())
    values.push_back(values.back() + static_cast<T>(expected.integers ? 1 : 0.125));
  return to_string(Tensor<T, Host>(test_device<Host>(), sizes, values));
}

}  // namespace

TEST_CASE("tensors are printed as by PyTorch") {
  for (const auto& expected : reference::printed_tensors)
    CHECK((expected.integers ? text_of<index_t>(expected) : text_of<float>(expected)) ==
          expected.text);
}

TEST_CASE_TEMPLATE("a tensor goes to a stream from any device", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  std::ostringstream out;
  out << Tensor<double, D>(device, {1, 2}, {0.25, -1e300}) << " "
      << Tensor<label_t, D>(device, {2}, {7, -1}) << " "
      << Tensor<std::uint8_t, D>(device, {1}, {65});
  CHECK(out.str() == "tensor([[  2.5000e-01, -1.0000e+300]]) tensor([ 7, -1]) tensor([65])");
  out.str("");
  out << Tensor<float, D>(device, {2, 3}).sizes();
  CHECK(out.str() == "[2, 3]");
  CHECK(to_string(Tensor<float, D>()) == "tensor([])");
}

TEST_CASE_TEMPLATE("a view is printed as the tensor that it shows", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const Tensor<float, D> tensor(device, {2, 2}, {1, 2.5f, -3, 4}), none(device, {0, 2});
  CHECK(to_string(device, tensor.view()) == to_string(tensor));
  CHECK(to_string(device, none.view()) == "tensor([], size=(0, 2))");
  if constexpr (std::same_as<D, Host>) {
    const Tensor<label_t, Host> labels(device, {2}, {7, 8});
    std::ostringstream out;
    out << tensor.view() << labels.view().flatten();
    CHECK(out.str() == to_string(tensor) + "tensor([7, 8])");
  }
}
