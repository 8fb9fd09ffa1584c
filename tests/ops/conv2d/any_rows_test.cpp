#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/conv2d/host/any_rows.hpp>
#include <gpunet/ops/conv2d/host/direct.hpp>

#include "support/devices.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

ConvAxis random_axis(RandomShapes& random, index_t most_kernel, index_t most_outputs) {
  ConvAxis axis;
  axis.kernel = random.pick(1, most_kernel);
  axis.stride = random.pick(1, 3);
  axis.dilation = random.pick(1, 3);
  axis.padding = random.pick(0, 3);
  const index_t reach = axis.dilation * (axis.kernel - 1) + 1;
  axis.size = std::max(index_t{1}, reach - 2 * axis.padding) + random.pick(0, most_outputs);
  axis.outputs = (axis.size + 2 * axis.padding - reach) / axis.stride + 1;
  return axis;
}

Conv2dGeometry random_geometry(RandomShapes& random) {
  const index_t groups = random.pick(0, 1) ? 1 : random.pick(2, 5);
  Conv2dGeometry g{random.pick(1, 5) * groups, random.pick(1, 13) * groups, groups, {}, {}};
  if (random.pick(0, 2) > 0) g.rows = random_axis(random, 4, 6);
  g.columns = random_axis(random, 5, random.pick(0, 1) ? 4 : 30);
  return g;
}

std::string text_of(const ConvAxis& a) {
  return concat("{", a.size, ", ", a.outputs, ", ", a.kernel, ", ", a.stride, ", ", a.padding, ", ",
                a.dilation, "}");
}

// The forward pass and the three gradients, tuned and plain.
void compare(Host& host, RandomShapes& random, const Slice& slice, const Conv2dGeometry& g) {
  CAPTURE(concat(g.in_channels, " ", g.out_channels, " ", g.groups, " ", text_of(g.rows), " ",
                 text_of(g.columns)));
  CAPTURE(slice.count);
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  const index_t weights = g.out_channels * g.taps();
  const auto x = operand(host, random.values(slice, g.in_features()));
  const auto dy = operand(host, random.values(slice, g.out_features()));
  const auto w = operand(host, random.values(weights)),
             b = operand(host, random.values(g.out_channels));
  const auto c = operand(host, random.values(g.in_channels));
  const std::vector<float> dw_before = random.values(weights),
                           db_before = random.values(g.out_channels);
  Outcome y(host, slice.samples() * g.out_features()), dx(host, slice.samples() * g.in_features());
  Outcome dw(host, weights), db(host, g.out_channels);
  Conv2dForwardArgs<float> forward{slice, {g}, x.data(), w.data(), b.data(), y.plain()};
  Conv2dBackwardArgs<float> backward{slice,     {g},      x.data(),  nullptr,
                                     dy.data(), w.data(), dx.plain()};
  backward.b = c.data();
  conv2d_forward<Host, float, Conv2dGeometry>(host, forward);
  conv2d_backward_input<Host, float, Conv2dGeometry>(host, backward);
  for (const Accumulate accumulate : {Accumulate::no, Accumulate::yes}) {
    dw.start(dw_before);
    db.start(db_before);
    backward.accumulate = accumulate;
    backward.dw = dw.plain();
    backward.db = db.plain();
    conv2d_backward_parameters<Host, float, Conv2dGeometry>(host, backward);
    backward.dw = dw.tuned();
    backward.db = {};
    for (const Isa path : isas()) {
      CAPTURE(static_cast<int>(path));
      set_isa(path);
      const GuardedBuffer<float, Host> scratch(host, detail::any_rows_scratch(host, slice, g));
      forward.scratch = backward.scratch = scratch.data();
      dw.start_tuned(dw_before);
      db.start_tuned(db_before);
      detail::backward_weight_by_any_rows(host, backward);
      conv2d_backward_bias(host, slice, g.out_channels, g.out_pixels(), dy.data(), db.tuned(),
                           accumulate);
      dw.check("dw");
      db.check("db");
      if (accumulate == Accumulate::yes) continue;
      forward.y = y.tuned();
      backward.dx = dx.tuned();
      detail::forward_by_any_rows(host, forward);
      detail::backward_input_by_any_rows(host, backward);
      y.check("y");
      dx.check("dx");
    }
  }
}

}  // namespace

TEST_CASE("convolutions of all options on every vector path") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(1);
  for (int i = 0; i < 150; ++i)
    compare(host, random, random.slice(), random_geometry(random));
}

TEST_CASE(
    "convolutions with more taps than vector kernels take, and with gaps between the windows") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(2);
  compare(host, random, {3, 3, 1}, {1, 2, 1, {}, {1100, 4, 1097}});
  compare(host, random, {4, 1, 4}, {4, 2, 2, {7, 3, 1, 3}, {8, 3, 1, 3}});
  compare(host, random, {16, 1, 16}, {2, 2, 2, {7, 2, 2, 4, 1}, {8, 2, 2, 5, 0}});
  // Several bands.
  compare(host, random, {16, 1, 16}, {1, 1, 1, {200, 200, 3, 1, 1}, {5, 5, 3, 1, 1}});
}

TEST_CASE("convolutions of all options are bitwise identical for any number of threads") {
  Host alone({.threads = 1}), four({.threads = 4});
  const auto run = [](Host& host, const Slice& slice, const Conv2dGeometry& g) {
    RandomShapes random(3);
    const index_t weights = g.out_channels * g.taps();
    const auto x = operand(host, random.values(slice, g.in_features()));
    const auto dy = operand(host, random.values(slice, g.out_features()));
    const auto w = operand(host, random.values(weights));
    Outcome y(host, slice.samples() * g.out_features()),
        dx(host, slice.samples() * g.in_features());
    Outcome dw(host, weights), db(host, g.out_channels);
    const GuardedBuffer<float, Host> scratch(host, detail::any_rows_scratch(host, slice, g));
    Conv2dBackwardArgs<float> backward{slice,     {g},      x.data(),   nullptr,
                                       dy.data(), w.data(), dx.tuned(), dw.tuned()};
    backward.scratch = scratch.data();
    detail::forward_by_any_rows(
        host, {slice, {g}, x.data(), w.data(), nullptr, y.tuned(), scratch.data()});
    detail::backward_input_by_any_rows(host, backward);
    detail::backward_weight_by_any_rows(host, backward);
    conv2d_backward_bias(host, slice, g.out_channels, g.out_pixels(), dy.data(), db.tuned(),
                         Accumulate::no);
    return std::array{y.values(), dx.values(), dw.values(), db.values()};
  };
  for (const Slice& slice : {Slice{1, 1, 1}, Slice{4, 4, 1}, Slice{21, 2, 16}})
    for (const Conv2dGeometry& g :
         {Conv2dGeometry{32, 32, 32, {62, 62, 3, 1, 1}, {60, 60, 3, 1, 1}},
          Conv2dGeometry{14, 14, 2, {50, 46, 3, 1, 0, 2}, {60, 30, 3, 2, 1}},
          Conv2dGeometry{9, 23, 1, {40, 40, 3, 1, 2, 2}, {50, 50, 3, 1, 2, 2}}}) {
      REQUIRE(detail::is_shared(slice, g));
      CHECK(run(alone, slice, g) == run(four, slice, g));
    }
}
