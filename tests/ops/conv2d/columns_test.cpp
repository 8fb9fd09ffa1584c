#include <algorithm>
#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/channel_convolutions.hpp"

using namespace gpunet;

namespace {

// Sums of up to some thousand products in float, in parts of a hundred.
constexpr double tolerance = 2e-6;

// A convolution that goes by columns, whether that pays or not.
struct ColumnsGeometry : WideConv2dGeometry {};

index_t conv2d_scratch(const Host&, const Slice&, const ColumnsGeometry& g, float) {
  return detail::WindowColumns{g}.elements();
}

void conv2d_forward(Host& device, const Conv2dForwardArgs<float, ColumnsGeometry>& args) {
  detail::forward_by_columns(device, args.general());
}

void conv2d_backward_input(Host& device, const Conv2dBackwardArgs<float, ColumnsGeometry>& args) {
  detail::backward_input_by_columns(device, args.general());
}

void conv2d_backward_weight(Host& device, const Conv2dBackwardArgs<float, ColumnsGeometry>& args) {
  detail::backward_weight_by_columns(device, args.general());
}

}  // namespace

TEST_CASE(
    "convolutions of few samples equal the plain ones, bitwise identical for any number of "
    "threads") {
  Generator random(1);
  const auto compare = [&](index_t samples, const WideConv2dGeometry& g) {
    const Slice slice{samples, samples, 1};
    REQUIRE(detail::columns_pay(slice, g));
    const HostOptions exact{.precision = Precision::exact};
    REQUIRE(detail::algorithm_of(Host(exact), slice, g) == detail::ConvAlgorithm::columns);
    compare_with_plain(exact, slice, g, random, tolerance);
  };
  compare(1, channel_convolution(33, 35, 7, 7, 3, 1, 1));
  compare(2, channel_convolution(16, 17, 4, 5, 3, 1, 1));
  compare(2, channel_convolution(3, 20, 30, 34, 7, 2, 3));
  compare(1, channel_convolution(20, 16, 9, 21, 1, 1, 0));
  compare(2, channel_convolution(40, 50, 12, 15, 1, 2, 0));
  compare(1, channel_convolution(64, 64, 36, 30, 3, 1, 1));  // more than one band
  const detail::WindowColumns windows{channel_convolution(64, 64, 36, 30, 3, 1, 1)};
  CHECK(windows.band() < windows.g.out_pixels());
}

TEST_CASE("convolutions by columns do what the plain ones do, over random shapes") {
  RandomShapes shapes(3);
  Generator random(4);
  for (int i = 0; i < 60; ++i) {
    const index_t kernel = shapes.pick(1, 5), padding = shapes.pick(0, 3),
                  stride = shapes.pick(1, 3);
    const auto side = [&] {
      return std::max(index_t{1}, kernel - 2 * padding) + shapes.pick(0, 20);
    };
    const index_t in = shapes.pick(1, 20), out = shapes.pick(1, 40), samples = shapes.pick(1, 2);
    const ColumnsGeometry g{channel_convolution(in, out, side(), side(), kernel, stride, padding)};
    compare_with_plain({}, {samples, samples, 1}, g, random, tolerance);
  }
}

TEST_CASE("convolutions of many samples, and of few channels in long rows, do not go by columns") {
  CHECK_FALSE(detail::columns_pay({4, 1, 4}, channel_convolution(64, 64, 8, 8, 3, 1, 1)));
  CHECK_FALSE(detail::columns_pay({1, 1, 1}, channel_convolution(64, 8, 8, 8, 3, 1, 1)));
  CHECK_FALSE(detail::columns_pay({1, 1, 1}, channel_convolution(16, 16, 32, 32, 3, 1, 1)));
}
