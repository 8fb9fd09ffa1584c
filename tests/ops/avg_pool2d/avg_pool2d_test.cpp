#include <doctest/doctest.h>
#include <string>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/avg_pool2d/host/rows.hpp>

#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

std::string to_string(const PoolAxis& axis) {
  return concat(axis.size, " -> ", axis.outputs, ", kernel ", axis.kernel, ", stride ", axis.stride,
                ", padding ", axis.padding);
}

// Both directions of the map of elements to windows.
void check_windows(const PoolAxis& axis) {
  const std::string sizes = to_string(axis);
  CAPTURE(sizes);
  for (index_t o = 0; o < axis.outputs; ++o)
    for (index_t i = 0; i < axis.size; ++i)
      CHECK((axis.begin(o) <= i && i < axis.end(o)) == (axis.first(i) <= o && o < axis.last(i)));
}

// Averages and gradients, tuned and plain.
void compare(Host& host, RandomShapes& random, const Slice& slice, const AvgPool2dGeometry& g) {
  check_windows(g.rows);
  check_windows(g.columns);
  const std::string rows = to_string(g.rows), columns = to_string(g.columns);
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(g.channels);
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  const auto x = operand(host, random.values(slice, g.in_features()));
  const auto dy = operand(host, random.values(slice, g.out_features()));
  const Outcome y(host, slice.samples() * g.out_features()),
      dx(host, slice.samples() * g.in_features());
  avg_pool2d_forward<Host, float>(host, slice, g, x.data(), y.plain());
  avg_pool2d_backward<Host, float>(host, slice, g, dy.data(), dx.plain());
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    avg_pool2d_forward(host, slice, g, x.data(), y.tuned());
    avg_pool2d_backward(host, slice, g, dy.data(), dx.tuned());
    y.check("y");
    dx.check("dx");
  }
}

PoolAxis windows(RandomShapes& random, index_t kernel, index_t stride, index_t padding) {
  const index_t size = std::max(index_t{1}, kernel - 2 * padding) + random.pick(0, 9);
  return {size, (size + 2 * padding - kernel) / stride + 1, kernel, stride, padding};
}

}  // namespace

TEST_CASE("tuned average pooling does what the plain one does") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(1);
  for (int shapes = 0; shapes < 160; ++shapes) {
    const index_t kernel = random.pick(1, 20), stride = random.pick(1, kernel + 1),
                  padding = random.pick(0, kernel / 2);
    compare(host, random, random.slice(),
            {random.pick(1, 5), windows(random, kernel, stride, padding),
             windows(random, kernel, stride, padding)});
  }
}

TEST_CASE("tuned adaptive average pooling does what the plain one does") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(2);
  for (int shapes = 0; shapes < 160; ++shapes)
    compare(host, random, random.slice(),
            {random.pick(1, 5),
             {random.pick(1, 40), random.pick(1, 12)},
             {random.pick(1, 40), random.pick(1, 12)}});
}

TEST_CASE("tuned global average pooling does what the plain one does") {
  const KeepIsa keep;
  for (int threads : {1, 2}) {
    Host host({.threads = threads});
    RandomShapes random(3);
    for (const Slice& slice : {Slice{1, 1, 1}, Slice{4, 1, 4}, Slice{7, 1, 16}, Slice{30, 2, 16}})
      for (index_t size : {1, 2, 7, 8})
        compare(host, random, slice, {64, {size, 1}, {size, 1, size, size, 0}});
  }
}
