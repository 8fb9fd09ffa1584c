#include <doctest/doctest.h>
#include <type_traits>
#include <vector>

#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/tensor.hpp>
#include <gpunet/tensor/view.hpp>

#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE("a view is a pointer and sizes") {
  float data[6] = {};
  const View<float, Host> view(data, {2, 3});
  CHECK(view.data() == data);
  CHECK(view.sizes() == Sizes{2, 3});
  CHECK(view.size(1) == 3);
  CHECK(view.numel() == 6);
}

TEST_CASE("a view without data has no elements") {
  const View<float, Host> view;
  CHECK(view.data() == nullptr);
  CHECK(view.numel() == 0);
}

TEST_CASE("a view that may write is one that reads, and never one of another device") {
  float data[2] = {};
  const View<float, Host> view(data, {2});
  const View<const float, Host> reading = view;
  CHECK(reading.data() == data);
  CHECK(reading.sizes() == view.sizes());
  static_assert(std::is_trivially_copyable_v<View<float, Host>>);  // kernels take both
  static_assert(std::is_trivially_copyable_v<View<const float, Host>>);
  static_assert(std::is_copy_constructible_v<View<float, Host>> &&
                std::is_copy_assignable_v<View<float, Host>>);
  static_assert(!std::is_convertible_v<View<const float, Host>, View<float, Host>>);
  static_assert(!std::is_convertible_v<View<float, Host>, View<const float, Cuda>>);
  static_assert(!std::is_convertible_v<View<float, Host>, View<const double, Host>>);
}

TEST_CASE("the dimensions of a view from one on become one, as in PyTorch") {
  float numbers[24];
  const View<float, Host> view(numbers, {2, 3, 4});
  CHECK(view.flatten().sizes() == Sizes{24});
  CHECK(view.flatten(1).sizes() == Sizes{2, 12});
  CHECK(view.flatten(2).sizes() == Sizes{2, 3, 4});
  CHECK(view.flatten(1).data() == numbers);
  CHECK(View<float, Host>(numbers, {0, 3, 4}).flatten(1).sizes() == Sizes{0, 12});
  CHECK(error_of([&] { view.flatten(3); }) ==
        "gpunet::View::flatten: start_dim 3 of shape [2, 3, 4] (want 0 to 2)");
}

TEST_CASE("the numbers of a view") {
  Host host;
  const Tensor<label_t, Host> labels(host, {3}, std::vector<label_t>{2, 0, 1});
  CHECK(to_vector(host, labels.view()) == std::vector<label_t>{2, 0, 1});
  CHECK(to_vector(host, View<float, Host>()).empty());
}
