#include <doctest/doctest.h>
#include <type_traits>

#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/view.hpp>

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
  static_assert(std::is_copy_constructible_v<View<float, Host>> && std::is_copy_assignable_v<View<float, Host>>);
  static_assert(!std::is_convertible_v<View<const float, Host>, View<float, Host>>);
  static_assert(!std::is_convertible_v<View<float, Host>, View<const float, Cuda>>);
  static_assert(!std::is_convertible_v<View<float, Host>, View<const double, Host>>);
}
