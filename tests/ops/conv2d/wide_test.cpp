#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/channel_convolutions.hpp"

using namespace gpunet;
using detail::algorithm_of;
using detail::ConvAlgorithm;

namespace {

// Sums of up to some thousand products in float, in parts of a hundred.
constexpr double tolerance = 2e-6;

}  // namespace

TEST_CASE(
    "convolutions between many channels do what the plain ones do, with the same bits for any "
    "number of threads") {
  Generator random(1);
  const auto compare = [&](const Slice& slice, const WideConv2dGeometry& g) {
    REQUIRE(algorithm_of(Host({.threads = 1}), slice, g) != ConvAlgorithm::rows);
    compare_with_plain({.precision = Precision::exact}, slice, g, random, tolerance);
  };
  compare({16, 1, 16}, channel_convolution(32, 32, 6, 7, 3, 1, 1));
  compare({29, 2, 16}, channel_convolution(33, 35, 11, 12, 3, 2, 1));
  compare({16, 1, 16}, channel_convolution(32, 70, 4, 3, 1, 1, 0));
  compare({32, 2, 16}, channel_convolution(70, 32, 5, 5, 1, 2, 0));
  compare({13, 1, 16}, channel_convolution(34, 37, 6, 9, 5, 1, 2));
  compare({16, 1, 16}, channel_convolution(32, 33, 9, 7, 2, 3, 1));
  compare({35, 3, 16}, channel_convolution(35, 32, 3, 4, 3, 1, 3));
  compare({16, 1, 16}, channel_convolution(32, 32, 2, 20, 4, 3, 2));
  // Every tap of a gradient reads far behind.
  compare({16, 1, 16}, channel_convolution(40, 35, 1, 7, 1, 1, 2));
  compare({13, 1, 16}, channel_convolution(33, 34, 4, 2, 2, 3, 6));
}

TEST_CASE(
    "convolutions that are not between many channels, or of other slices, go the general way") {
  Generator random(2);
  const Host host({.threads = 1});
  CHECK(algorithm_of(host, {16, 1, 16}, channel_convolution(3, 16, 4, 4, 3, 1, 1)) ==
        ConvAlgorithm::rows);
  for (const Slice& slice : {Slice{4, 1, 4}, Slice{7, 2, 4}}) {
    const WideConv2dGeometry g = channel_convolution(16, 17, 4, 5, 3, 1, 1);
    CHECK(algorithm_of(host, slice, g) == ConvAlgorithm::rows);
    compare_with_plain({}, slice, g, random, tolerance);
  }
}

TEST_CASE("groups of many channels are convolutions of their own") {
  Generator random(5);
  const auto grouped = [](index_t groups, const ConvAxis& rows, const ConvAxis& columns) {
    return WideConv2dGeometry{{33 * groups, 34 * groups, groups, rows, columns}};
  };
  const auto compare = [&](const HostOptions& options, const Slice& slice,
                           const WideConv2dGeometry& g, double most) {
    REQUIRE(algorithm_of(Host(options), slice, g) == ConvAlgorithm::groups);
    compare_with_plain(options, slice, g, random, most);
  };
  const HostOptions exact{.precision = Precision::exact};
  compare(exact, {29, 2, 16}, grouped(2, conv_axis(7, 3, 2, 1), conv_axis(9, 3, 1, 0)), tolerance);
  compare(exact, {13, 1, 16}, grouped(3, ConvAxis{}, conv_axis(20, 3, 1, 2, 2)), tolerance);
  compare(exact, {3, 3, 1}, grouped(2, conv_axis(6, 3, 1, 1), conv_axis(5, 3, 1, 1)), tolerance);
  compare({}, {16, 1, 16}, grouped(2, conv_axis(8, 3, 1, 1), conv_axis(12, 3, 1, 1)), 2e-5);
  CHECK(algorithm_of(Host(), {16, 1, 16},
                     {{64, 64, 64, conv_axis(9, 3, 1, 1), conv_axis(9, 3, 1, 1)}}) ==
        ConvAlgorithm::any_rows);
}

TEST_CASE("convolutions of few channels are shared among threads too") {
  Generator random(3);
  const Slice slice{44, 3, 16};
  for (const WideConv2dGeometry& g :
       {channel_convolution(3, 21, 15, 16, 3, 1, 1), channel_convolution(3, 18, 30, 17, 5, 2, 2)}) {
    CHECK(detail::conv2d_workers(Host({.threads = 3}), slice, g) == 3);
    compare_with_plain({}, slice, g, random, tolerance);
  }
}

TEST_CASE("the rows of a single group of samples are shared among threads") {
  Generator random(4);
  const auto compare = [&](const Slice& slice, const WideConv2dGeometry& g) {
    REQUIRE(algorithm_of(Host({.threads = 1}), slice, g) == ConvAlgorithm::rows);
    CHECK(detail::conv2d_workers(Host({.threads = 3}), slice, g) == 3);
    compare_with_plain({}, slice, g, random, tolerance);
  };
  compare({1, 1, 1}, channel_convolution(8, 17, 32, 30, 7, 1, 3));
  compare({1, 1, 1}, channel_convolution(9, 15, 49, 47, 5, 2, 1));
  compare({13, 1, 16}, channel_convolution(8, 17, 10, 9, 7, 1, 3));
  compare({13, 1, 16}, channel_convolution(9, 15, 19, 17, 5, 2, 1));
}

TEST_CASE("threads share a convolution if there is enough work") {
  const Host host({.threads = 3});
  CHECK(detail::conv2d_workers(host, {16, 1, 16}, channel_convolution(64, 64, 32, 32, 3, 1, 1)) ==
        3);
  CHECK(detail::conv2d_workers(host, {1, 1, 1}, channel_convolution(3, 6, 16, 16, 3, 1, 1)) == 1);
  CHECK(detail::conv2d_workers(host, {32, 2, 16}, channel_convolution(64, 64, 32, 32, 3, 1, 1)) ==
        3);
  CHECK(detail::conv2d_workers(host, {32, 2, 16}, channel_convolution(4, 4, 8, 8, 3, 1, 1)) == 1);
}

namespace {

// Returns the outputs of a convolution whose results are clamped to bounds.
std::vector<float> clamped_outputs(Host& host, const Slice& slice, const WideConv2dGeometry& g,
                                   const Bounds& bounds, const std::vector<float>& x,
                                   const std::vector<float>& w, const std::vector<float>& b) {
  GuardedBuffer<float, Host> y(host, slice.samples() * g.out_features()),
      scratch(host, conv2d_scratch(host, slice, g, float{}));
  conv2d_forward(host,
                 Conv2dForwardArgs<float, WideConv2dGeometry>{.slice = slice,
                                                              .block = {.g = g, .bounds = bounds},
                                                              .x = x.data(),
                                                              .w = w.data(),
                                                              .b = b.empty() ? nullptr : b.data(),
                                                              .y = y.data(),
                                                              .scratch = scratch.data()});
  return y.download();
}

}  // namespace

TEST_CASE("every algorithm clamps its results to bounds, and NaN stays NaN") {
  using enum ConvAlgorithm;
  struct Case {
    ConvAlgorithm algorithm;
    Slice slice;
    WideConv2dGeometry g;
  };
  const Case cases[] = {
      {rows, {3, 1, 4}, channel_convolution(3, 7, 8, 9, 3, 1, 1)},
      {any_rows, {2, 2, 1}, {{6, 6, 6, conv_axis(9, 3, 2, 1), conv_axis(7, 3, 1, 1)}}},
      {any_rows, {4, 1, 4}, {{2, 2, 1, conv_axis(35, 34, 1, 1), conv_axis(35, 33, 1, 1)}}},
      {wide, {16, 1, 16}, channel_convolution(33, 34, 5, 6, 1, 1, 0)},
      {winograd, {13, 1, 16}, channel_convolution(32, 33, 12, 13, 3, 1, 1)},
      {winograd, {1, 1, 1}, channel_convolution(20, 17, 40, 43, 3, 1, 1)},
      {columns, {1, 1, 1}, channel_convolution(17, 31, 7, 9, 1, 1, 0)},
      {columns, {2, 2, 1}, channel_convolution(33, 40, 9, 8, 3, 2, 1)},
      {groups, {16, 1, 16}, {{64, 66, 2, conv_axis(4, 1, 1, 0), conv_axis(5, 1, 1, 0)}}},
  };
  Host host({.threads = 2});
  const KeepIsa keep;
  Generator random(7);
  for (const Case& each : cases) {
    const Slice& slice = each.slice;
    const WideConv2dGeometry& g = each.g;
    CAPTURE(text_of(g));
    REQUIRE(algorithm_of(host, slice, g) == each.algorithm);
    std::vector<float> x = random_values<float>(slice.samples() * g.in_features(), random);
    const std::vector<float> w = random_values<float>(g.out_channels * g.taps(), random),
                             b = random_values<float>(g.out_channels, random);
    for (const Isa path : isas()) {
      CAPTURE(static_cast<int>(path));
      set_isa(path);
      for (const Bounds& bounds : {Bounds{.low = 0}, Bounds{.low = -0.25, .high = 0.5}})
        for (const bool has_bias : {true, false})
          for (const bool has_nan : {false, true}) {
            x[0] = has_nan ? NAN : 0.5f;
            const std::vector<float> bias = has_bias ? b : std::vector<float>();
            const std::vector<float> clamped = clamped_outputs(host, slice, g, bounds, x, w, bias);
            std::vector<float> expected = clamped_outputs(host, slice, g, {}, x, w, bias);
            const Clamp<float> clamp(bounds);
            index_t wrong = 0, changed = 0;
            for (std::size_t i = 0; i < expected.size(); ++i) {
              const float wanted = clamp(expected[i]);
              changed += wanted != expected[i];
              wrong += std::isnan(wanted) ? !std::isnan(clamped[i]) : clamped[i] != wanted;
            }
            CHECK(wrong == 0);
            CHECK(changed > 0);
          }
    }
  }
}
