#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/class_results.hpp"
#include "support/devices.hpp"

using namespace gpunet;

std::vector<std::vector<std::string>> class_results_without_tensors() {
  Host& host = test_device<Host>();
  Tensor<float, Host> x;
  return {class_results(
              [&](const Sizes& sizes, const std::vector<float>& values) -> Tensor<float, Host>& {
                return x = Tensor<float, Host>(host, sizes, values);
              }),
          class_results([&](const Sizes& sizes,
                            const std::vector<float>& values) -> const Tensor<float, Host>& {
            return x = Tensor<float, Host>(host, sizes, values);
          }),
          class_results([&](const Sizes& sizes, const std::vector<float>& values) {
            return Tensor<float, Host>(host, sizes, values);
          })};
}

TEST_CASE("argmax and softmax of tensors need gpunet.hpp only") {
  const Tensor<std::int32_t, Host> x(test_device<Host>(), {2, 2}, {3, 4, 6, 5});
  CHECK(argmax(x, 1, true).sizes() == Sizes{2, 1});
  CHECK(argmin(x).item() == 0);
  const Tensor<double, Host> zeros(test_device<Host>(), {1, 4}, {0, 0, 0, 0});
  CHECK(softmax(zeros, -1).to_vector() == std::vector<double>(4, 0.25));
  CHECK(log_softmax(zeros, -1).to_vector() == std::vector<double>(4, -std::log(4.0)));
  CHECK(error_of([] { softmax(Tensor<float, Host>(), 0); }) ==
        "gpunet::StridedView: the tensor was made without a device (it has no elements), make it "
        "on one");
}
