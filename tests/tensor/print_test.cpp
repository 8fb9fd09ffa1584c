#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/tensor/print.hpp>

#include "support/devices.hpp"
#include "support/reference_texts.hpp"

using namespace gpunet;

namespace {

// Returns the text of a tensor of reference/printed_tensors.py, by the rest of its title.
template <class T>
std::string text_of(std::istringstream& title) {
  Sizes sizes;
  std::string word;
  while (title >> word && word != ":")
    sizes.append(std::stoll(word));
  std::vector<T> values;
  while (title >> word)
    values.push_back(static_cast<T>(std::stod(word)));
  // The rest goes by steps.
  while (!values.empty() && static_cast<index_t>(values.size()) < sizes.numel())
    values.push_back(values.back() + static_cast<T>(std::is_integral_v<T> ? 1 : 0.125));
  return to_string(Tensor<T, Host>(test_device<Host>(), sizes, values));
}

}  // namespace

TEST_CASE("tensors are printed as by PyTorch") {
  const std::vector<ReferenceText> texts = reference_texts("printed_tensors");
  CHECK(texts.size() == 36);
  for (const ReferenceText& expected : texts) {
    std::istringstream title(expected.title);
    std::string type;
    title >> type;
    CHECK((type == "int64" ? text_of<index_t>(title) : text_of<float>(title)) == expected.text);
  }
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
