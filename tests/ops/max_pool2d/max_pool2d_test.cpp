#include <array>
#include <doctest/doctest.h>
#include <limits>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/max_pool2d/host/windows.hpp>

#include "support/devices.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

// Equal numbers, or both not a number.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

// Values, choices and gradients, tuned and plain: the very same.
void compare(Host& host, RandomShapes& random, const Slice& slice, const Pool2dGeometry& g) {
  CAPTURE(g.channels);
  CAPTURE(g.height);
  CAPTURE(g.width);
  CAPTURE(g.kernel);
  CAPTURE(g.stride);
  CAPTURE(g.padding);
  CAPTURE(g.kernel_width);
  CAPTURE(g.stride_width);
  CAPTURE(g.padding_width);
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  std::vector<float> values = random.values(slice, g.in_features());
  for (float& value : values)
    value = std::round(value * 4);  // many equal ones
  if (random.pick(0, 3) == 0) values.front() = std::numeric_limits<float>::quiet_NaN();
  const auto x = operand(host, values), dy = operand(host, random.values(slice, g.out_features()));
  const index_t outputs = slice.samples() * g.out_features(),
                inputs = slice.samples() * g.in_features();
  GuardedBuffer<float, Host> plain_y(host, outputs), plain_dx(host, inputs), y(host, outputs),
      dx(host, inputs);
  std::vector<PoolChoice> plain_choice(static_cast<std::size_t>(outputs)), choice(plain_choice);
  max_pool2d_forward<Host, float>(host, slice, g, x.data(), plain_y.data(), plain_choice.data());
  max_pool2d_backward<Host, float>(host, slice, g, dy.data(), plain_choice.data(), plain_dx.data());
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    y.fill_with_nan();
    dx.fill_with_nan();
    max_pool2d_forward(host, slice, g, x.data(), y.data(), choice.data());
    max_pool2d_backward(host, slice, g, dy.data(), choice.data(), dx.data());
    CHECK(same(y.download(), plain_y.download()));
    CHECK(choice == plain_choice);
    CHECK(dx.download() == plain_dx.download());
  }
}

Pool2dGeometry geometry(index_t channels, index_t height, index_t width, index_t kernel,
                        index_t stride, index_t padding) {
  return {channels,
          height,
          width,
          (height + 2 * padding - kernel) / stride + 1,
          (width + 2 * padding - kernel) / stride + 1,
          kernel,
          stride,
          padding};
}

}  // namespace

TEST_CASE("tuned pooling does what the plain one does") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(1);
  for (int shapes = 0; shapes < 320; ++shapes) {
    const bool usual = random.pick(0, 1) == 0;  // 2 x 2 without overlap
    const index_t kernel = usual ? 2 : random.pick(1, 7), stride = usual ? 2 : random.pick(1, 3);
    const index_t padding = usual ? 0 : random.pick(0, std::min(index_t{3}, kernel / 2));
    const index_t least = std::max(index_t{1}, kernel - 2 * padding);
    compare(host, random, random.slice(),
            geometry(random.pick(1, 5), least + random.pick(0, 6), least + random.pick(0, 9),
                     kernel, stride, padding));
  }
}

TEST_CASE(
    "tuned pooling of rectangular windows, wide ones and one-dimensional ones, also in ceil mode") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(3);
  for (int shapes = 0; shapes < 320; ++shapes) {
    const bool is_row = random.pick(0, 2) == 0;
    const index_t kernel = is_row ? 1 : random.pick(1, 6),
                  kernel_width = random.pick(1, random.pick(0, 1) ? 6 : 50);
    Pool2dGeometry g{.channels = random.pick(1, 3),
                     .height = 1,
                     .width = 1,
                     .out_height = 1,
                     .out_width = 1,
                     .kernel = kernel,
                     .stride = random.pick(1, 4),
                     .padding = random.pick(0, kernel / 2),
                     .kernel_width = kernel_width,
                     .stride_width = random.pick(1, 9),
                     .padding_width = random.pick(0, kernel_width / 2)};
    if (!is_row) g.height = std::max(index_t{1}, kernel - 2 * g.padding) + random.pick(0, 9);
    g.width = std::max(index_t{1}, kernel_width - 2 * g.padding_width) + random.pick(0, 40);
    const bool ceil = random.pick(0, 1) == 1;
    g.out_height = nn::detail::pool_windows(g.height, {kernel, g.stride, g.padding, ceil});
    g.out_width =
        nn::detail::pool_windows(g.width, {kernel_width, g.stride_width, g.padding_width, ceil});
    compare(host, random, random.slice(), g);
  }
}

TEST_CASE("tuned pooling of LeNet does what the plain one does") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(2);
  for (const Slice& slice : {Slice{1, 1, 1}, Slice{4, 1, 4}, Slice{7, 1, 16}}) {
    compare(host, random, slice, geometry(6, 28, 28, 2, 2, 0));
    compare(host, random, slice, geometry(16, 10, 10, 2, 2, 0));
  }
}
