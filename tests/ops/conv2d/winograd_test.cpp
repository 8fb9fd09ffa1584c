#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/channel_convolutions.hpp"
#include "support/sanitizers.hpp"

using namespace gpunet;

namespace {

// Winograd's F(4x4, 3x3) and F(4x4, 5x5) lose digits where their transforms add numbers that cancel
// later. The rows of B^T and A^T have absolute sums of up to 10 and 19, of 5 x 5 filters 15 and 19
// (Lavin and Gray, 2015), in each of two dimensions, so products up to 100 times as large as the
// result are summed, each with a rounding error of 6e-8 of its size. These errors are independent:
// what is left of them is 1e-6 to 1e-5 of the largest output.
constexpr double tolerance = 2e-5;

WideConv2dGeometry geometry(index_t in, index_t out, index_t height, index_t width, index_t padding,
                            index_t kernel = 3) {
  return channel_convolution(in, out, height, width, kernel, 1, padding);
}

// A convolution that goes by Winograd's way, whether that pays or not.
struct WinogradGeometry : WideConv2dGeometry {};

index_t conv2d_scratch(const Host& device, const Slice& slice, const WinogradGeometry& g, float) {
  return detail::winograd_scratch(device, slice, g);
}

void conv2d_forward(Host& device, const Conv2dForwardArgs<float, WinogradGeometry>& args) {
  detail::winograd_forward(device, args.general());
}

void conv2d_backward_input(Host& device, const Conv2dBackwardArgs<float, WinogradGeometry>& args) {
  detail::winograd_backward_input(device, args.general());
}

void conv2d_backward_weight(Host& device, const Conv2dBackwardArgs<float, WinogradGeometry>& args) {
  detail::winograd_backward_weight(device, args.general());
}

}  // namespace

TEST_CASE(
    "Winograd's convolution does what the plain one does, with the same bits for any number of "
    "threads") {
  Generator random(1);
  const auto compare = [&](const Slice& slice, const WideConv2dGeometry& g) {
    REQUIRE(detail::winograd_pays(Host({.threads = 1}), slice, g));
    compare_with_plain({}, slice, g, random, tolerance);
  };
  compare({16, 1, 16}, geometry(16, 16, 8, 8, 1));
  compare({32, 2, 16}, geometry(16, 16, 4, 12, 1));
  CHECK(detail::conv2d_workers(Host({.threads = 3}), {29, 2, 16}, geometry(17, 35, 7, 9, 1)) == 3);
  compare({29, 2, 16}, geometry(17, 35, 7, 9, 1));
  compare({41, 3, 16}, geometry(33, 18, 5, 6, 2));
  compare({16, 1, 16}, geometry(19, 21, 10, 10, 0));
  compare({13, 1, 16}, geometry(70, 16, 7, 6, 1));
  compare({32, 2, 16}, geometry(16, 70, 3, 6, 2));
  compare({16, 1, 16}, geometry(25, 49, 8, 9, 0));
  compare({16, 1, 16}, geometry(16, 16, 16, 16, 0, 5));
  compare({11, 1, 16}, geometry(6, 16, 14, 14, 3, 5));
  compare({29, 2, 16}, geometry(17, 35, 7, 9, 2, 5));
  compare({32, 2, 16}, geometry(40, 66, 5, 6, 4, 5));
  compare({1, 1, 1}, geometry(64, 48, 32, 30, 1));
  compare({3, 3, 1}, geometry(57, 65, 23, 19, 1));
  compare({5, 5, 1}, geometry(33, 48, 13, 14, 2, 5));
}

TEST_CASE("Winograd's convolution does what the plain one does, over random shapes") {
  RandomShapes shapes(3);
  Generator random(4);
  for (int i = 0; i < (under_sanitizers ? 8 : 80); ++i) {
    const index_t kernel = shapes.pick(0, 2) > 0 ? 5 : 3;
    const auto axis = [&] {
      const index_t dilation = shapes.pick(0, 1) ? 1 : shapes.pick(2, 4),
                    reach = (kernel - 1) * dilation + 1, padding = shapes.pick(0, reach - 1);
      return conv_axis(std::max(index_t{1}, reach - 2 * padding) + shapes.pick(0, 12), kernel, 1,
                       padding, dilation);
    };
    const index_t outer = shapes.pick(1, 2), samples = 16 * outer - shapes.pick(0, 15);
    const index_t in = shapes.pick(1, i % 2 ? 40 : 8), out = shapes.pick(1, i % 2 ? 40 : 8);
    const WinogradGeometry g{{{in, out, 1, axis(), axis()}}};
    const index_t single = shapes.pick(1, 5);
    const Slice slice = shapes.pick(0, 1) ? Slice{samples, outer, 16} : Slice{single, single, 1};
    compare_with_plain({}, slice, g, random, tolerance);
  }
}

TEST_CASE("Winograd's convolution is part of a program where it certainly pays") {
  const auto is_wide = [](const auto& layer, auto in) {
    Lowering<Host, float> builder(in.sizes());
    const value_t y = nn::lower(builder, layer, GraphBuilder::input, in);
    const Graph graph = std::move(builder).finish(y);
    return graph.nodes[0].kernels == kernels_of<Conv2dKernels<WideConv2dGeometry>, Host, float>();
  };
  const nn::Conv2d<16, 5> layer;
  const nn::Conv2d<16, 5, nn::Padding<3>> padded;
  CHECK(is_wide(padded, Shape<6, 14, 14>{}));
  CHECK(is_wide(layer, Shape<16, 16, 16>{}));
  CHECK(is_wide(nn::Conv2d<33, 5>{}, Shape<3, 32, 32>{}));
  CHECK(is_wide(nn::Conv2d<3, 5>{}, Shape<33, 32, 32>{}));
  CHECK(is_wide(nn::Conv2d{3, 5}, Shape<3, 32, 32>{}));
  CHECK(!is_wide(layer, Shape<6, 14, 14>{}));
  CHECK(!is_wide(nn::Conv2d<16, 3>{}, Shape<8, 24, 24>{}));
}

TEST_CASE("an exact host does not use Winograd's convolution") {
  Generator random(2);
  Host fast({.threads = 1}), exact({.threads = 1, .precision = Precision::exact});
  CHECK(fast.precision() == Precision::fast);
  const Slice slice{16, 1, 16};
  const WideConv2dGeometry g = geometry(16, 16, 8, 8, 1);
  CHECK(detail::winograd_pays(fast, slice, g));
  CHECK_FALSE(detail::winograd_pays(exact, slice, g));
  const ConvolutionProblem problem(slice, g, random);
  const ConvolutionResults results = run(exact, problem);
  // The error of 144 or, over samples and places, 1024 additions in float.
  check(results, problem, 2e-6);
  CHECK(run(fast, problem).y != results.y);
}

TEST_CASE("Winograd's convolution leaves what does not fit to the direct one") {
  const Host host({.threads = 1});
  const Slice slice{16, 1, 16};
  const WideConv2dGeometry fits = geometry(16, 16, 8, 8, 1);
  WideConv2dGeometry wide_kernel = fits, stride = fits, few = fits,
                     small = geometry(16, 16, 3, 3, 1);
  wide_kernel.rows.kernel = wide_kernel.columns.kernel = 7;
  stride.columns.stride = 2;
  few.in_channels = 3;
  CHECK(detail::winograd_pays(host, slice, fits));
  CHECK_FALSE(detail::winograd_pays(host, {4, 1, 4}, fits));
  CHECK_FALSE(detail::winograd_pays(host, slice, wide_kernel));
  CHECK_FALSE(detail::winograd_pays(host, slice, stride));
  CHECK_FALSE(detail::winograd_pays(host, slice, few));
  CHECK_FALSE(detail::winograd_pays(host, slice, small));
}

TEST_CASE(
    "a huge or infinite input stays in its neighborhood on an exact host, and does not where "
    "Winograd's way is "
    "taken") {
  const KeepIsa keep;
  constexpr index_t side = 8, channels = 16, sample = 3, channel = 2, row = 5, column = 4;
  const Slice slice{16, 1, 16};
  const WideConv2dGeometry g = geometry(channels, channels, side, side, 1);
  Generator random(5);
  ConvolutionProblem problem(slice, g, random);
  // Of the outputs that do not see the input: how many are not finite.
  const auto lost = [&](const std::vector<float>& y) {
    index_t count = 0;
    for (index_t n = 0; n < slice.count; ++n)
      for (index_t i = 0; i < g.out_features(); ++i) {
        const index_t down = i / side % side - row, across = i % side - column;
        const bool sees = n == sample && std::abs(down) <= 1 && std::abs(across) <= 1;
        count += !sees && !std::isfinite(
                              y.at(static_cast<std::size_t>(slice.offset(n, i, g.out_features()))));
      }
    return count;
  };
  for (const float value : {std::numeric_limits<float>::infinity(), 3e38f}) {
    CAPTURE(value);
    const index_t feature = (channel * side + row) * side + column;
    problem.x.at(static_cast<std::size_t>(slice.offset(sample, feature, g.in_features()))) = value;
    for (Isa path : isas()) {
      CAPTURE(static_cast<int>(path));
      set_isa(path);
      Host exact({.threads = 1, .precision = Precision::exact}), fast({.threads = 1});
      REQUIRE(detail::winograd_pays(fast, slice, g));
      CHECK(lost(run(exact, problem).y) == 0);
      const index_t fast_lost =
          lost(run(fast, problem).y);  // of its sample, in the tiles of 4 x 4 outputs around it
      CHECK(fast_lost > 0);
      CHECK(fast_lost <= channels * 4 * 16);
    }
  }
}
