#include <doctest/doctest.h>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/tensor/tensor.hpp>

#include "support/devices.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("a tensor keeps its values in row-major order", D, GPUNET_TEST_DEVICES) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const Tensor<float, D> tensor(test_device<D>(), {2, 3}, values);
  CHECK(tensor.sizes() == Sizes{2, 3});
  CHECK(tensor.size(0) == 2);
  CHECK(tensor.numel() == 6);
  CHECK(tensor.to_vector() == values);
  CHECK(&tensor.device() == &test_device<D>());
}

TEST_CASE_TEMPLATE("a tensor's number of values has to fit its shape", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::vector<int> five(5);
  using IntTensor = Tensor<int, D>;
  CHECK_THROWS_WITH_AS(IntTensor(device, {2, 3}, five),
                       "gpunet::Tensor: 5 values for the shape [2, 3] (want 6)", Error);
  CHECK_THROWS_AS(IntTensor(device, {}, five), Error);
  CHECK_NOTHROW(IntTensor(device, {5, 1}, five));
}

TEST_CASE_TEMPLATE("item is the only element", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  CHECK(Tensor<double, D>(device, {}, {2.5}).item() == 2.5);
  CHECK(Tensor<label_t, D>(device, {1, 1, 1}, {-7}).item() == -7);
  const Tensor<float, D> two(device, {2}, {1, 2});
  CHECK_THROWS_WITH_AS(
      two.item(),
      "gpunet::Tensor::item: a tensor of shape [2] has no single value, use to_vector()", Error);
  CHECK_THROWS_AS((Tensor<float, D>().item()), Error);
}

TEST_CASE_TEMPLATE("to(device) is a copy", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Host host({.threads = 1});
  const std::vector<int> values{7, 8, 9};
  const Tensor<int, D> tensor(device, {3, 1}, values);
  const Tensor<int, D> same = tensor.to(device);
  CHECK(same.data() != tensor.data());
  CHECK(same.to_vector() == values);
  CHECK(same.sizes() == tensor.sizes());
  const Tensor<int, Host> on_host = tensor.to(host);
  CHECK(on_host.to_vector() == values);
  CHECK(on_host.to(device).to_vector() == values);
}

TEST_CASE_TEMPLATE("a tensor without elements", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> none, empty(device, {0, 3}, {});
  CHECK(none.numel() == 0);
  CHECK(none.to_vector().empty());
  CHECK(empty.sizes() == Sizes{0, 3});
  CHECK(empty.to_vector().empty());
  CHECK(empty.to(device).sizes() == Sizes{0, 3});
}

TEST_CASE_TEMPLATE("views of a tensor share its memory", D, GPUNET_TEST_DEVICES) {
  Tensor<float, D> tensor(test_device<D>(), {2, 2}, {1, 2, 3, 4});
  const View<float, D> writing = tensor;
  const View<const float, D> reading = std::as_const(tensor);
  CHECK(writing.data() == tensor.data());
  CHECK(reading.data() == tensor.data());
  CHECK(tensor.view().sizes() == Sizes{2, 2});
  static_assert(std::is_same_v<decltype(std::as_const(tensor).view()), View<const float, D>>);
}

TEST_CASE_TEMPLATE("a moved tensor takes its memory along", D, GPUNET_TEST_DEVICES) {
  Tensor<float, D> tensor(test_device<D>(), {2}, {1, 2});
  const float* data = tensor.data();
  Tensor<float, D> moved = std::move(tensor);
  CHECK(moved.data() == data);
  CHECK(moved.to_vector() == std::vector<float>{1, 2});
  static_assert(!std::is_copy_constructible_v<Tensor<float, D>>);
}

TEST_CASE("a tensor that was moved from is empty, and one that is too large is refused") {
  Host& host = test_device<Host>();
  Tensor<float, Host> first(host, {2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor<float, Host> second = std::move(first);
  CHECK(first.sizes() == Sizes{0});
  CHECK(second.to_vector() == std::vector<float>{1, 2, 3, 4, 5, 6});
  first = std::move(second);
  CHECK(second.numel() == 0);
  CHECK(first.sizes() == Sizes{2, 3});
  using FloatTensor = Tensor<float, Host>;
  const Sizes huge{index_t{1} << 40, index_t{1} << 40};
  CHECK_THROWS_AS(FloatTensor(host, huge), Error);
}
