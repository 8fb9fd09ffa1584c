#include <doctest/doctest.h>

#include <gpunet/nn/options.hpp>

using namespace gpunet;
using namespace gpunet::nn;

TEST_CASE("options are found in any order, or have their default") {
  using gpunet::nn::detail::option_dim;
  static_assert(std::is_same_v<option_dim<Stride, Stride<1>>, Dim<1>>);
  static_assert(std::is_same_v<option_dim<Stride, Stride<1>, Padding<3>>, Dim<1>>);
  static_assert(std::is_same_v<option_dim<Stride, Stride<1>, Padding<3>, Stride<2>>, Dim<2>>);
  static_assert(std::is_same_v<option_dim<Padding, Padding<0>, Padding<3>, Stride<2>>, Dim<3>>);
  static_assert(gpunet::nn::detail::is_window_option<Padding<3>, 1> &&
                gpunet::nn::detail::is_window_option<Stride<2>, 1>);
  static_assert(!gpunet::nn::detail::is_window_option<int, 1> &&
                !gpunet::nn::detail::is_window_option<Bias<false>, 1>);
  static_assert(gpunet::nn::detail::has_bias<> &&
                gpunet::nn::detail::has_bias<Stride<2>, Bias<true>>);
  static_assert(!gpunet::nn::detail::has_bias<Bias<false>, Padding<1>>);
}

TEST_CASE("the number of windows") {
  static_assert(
      std::is_same_v<decltype(windows(Dim<32>{}, Dim<5>{}, Dim<1>{}, Dim<0>{})), Dim<28>>);
  static_assert(windows(Dim<28>{}, Dim<2>{}, Dim<2>{}, Dim<0>{}) == 14);
  static_assert(windows(Dim<29>{}, Dim<2>{}, Dim<2>{}, Dim<0>{}) == 14);
  static_assert(windows(Dim<5>{}, Dim<5>{}, Dim<3>{}, Dim<0>{}) == 1);
  static_assert(windows(Dim<1>{}, Dim<3>{}, Dim<2>{}, Dim<1>{}) == 1);
  CHECK(index_t{windows(Dim(index_t{7}), Dim<3>{}, Dim<2>{}, Dim<1>{})} == 4);
}

TEST_CASE("whether a window fits") {
  static_assert(window_fits(Dim<5>{}, Dim<5>{}, Dim<0>{}));
  static_assert(!window_fits(Dim<4>{}, Dim<5>{}, Dim<0>{}));
  static_assert(window_fits(Dim<3>{}, Dim<5>{}, Dim<1>{}));
  static_assert(window_fits(Dim(index_t{4}), Dim<5>{}, Dim<0>{}));  // for the run to find out
}
