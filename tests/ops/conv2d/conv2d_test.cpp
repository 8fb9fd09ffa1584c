#include <array>
#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/conv2d/host/block.hpp>

#include "support/devices.hpp"
#include "support/geometry_text.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

Conv2dGeometry random_geometry(RandomShapes& random) {
  Conv2dGeometry g = random_axes(random, {7, 3, 3, 5, 9});
  g.in_channels = random.pick(0, 1) ? random.pick(1, 4) : random.pick(1, 20);
  g.out_channels = random.pick(0, 1) ? random.pick(1, 7) : random.pick(1, 20);
  return g;
}

// Forward and both ways back, tuned and plain.
void compare(Host& host, RandomShapes& random, const Slice& slice, const Conv2dGeometry& g) {
  CAPTURE(text_of(g));
  CAPTURE(slice.count);
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  const index_t weights = g.out_channels * g.taps();
  const auto x = operand(host, random.values(slice, g.in_features()));
  const auto dy = operand(host, random.values(slice, g.out_features()));
  const auto w = operand(host, random.values(weights)),
             b = operand(host, random.values(g.out_channels));
  const std::vector<float> dw_before = random.values(weights),
                           db_before = random.values(g.out_channels);
  Outcome y(host, slice.samples() * g.out_features()), dx(host, slice.samples() * g.in_features());
  Outcome dw(host, weights), db(host, g.out_channels), more_dw(host, weights),
      more_db(host, g.out_channels);
  more_dw.start(dw_before);
  more_db.start(db_before);
  Conv2dForwardArgs<float> forward{slice, {g}, x.data(), w.data(), b.data(), y.plain()};
  Conv2dBackwardArgs<float> backward{slice,     {g},      x.data(),  nullptr,
                                     dy.data(), w.data(), dx.plain()};
  const auto parameters_into = [&](float* dw_to, float* db_to, Accumulate accumulate) {
    backward.dw = dw_to;
    backward.db = db_to;
    backward.accumulate = accumulate;
    return backward;
  };
  conv2d_forward<Host, float>(host, forward);
  conv2d_backward_input<Host, float>(host, backward);
  conv2d_backward_parameters<Host, float>(host,
                                          parameters_into(dw.plain(), db.plain(), Accumulate::no));
  conv2d_backward_parameters<Host, float>(
      host, parameters_into(more_dw.plain(), more_db.plain(), Accumulate::yes));
  forward.y = y.tuned();
  backward.dx = dx.tuned();
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    GuardedBuffer<float, Host> scratch(host, conv2d_scratch(host, slice, g, float{}));
    forward.scratch = backward.scratch = scratch.data();
    conv2d_forward(host, forward);
    y.check("y");
    scratch.fill_with_nan();
    conv2d_backward_input(host, backward);
    dx.check("dx");
    scratch.fill_with_nan();
    conv2d_backward_parameters(host, parameters_into(dw.tuned(), db.tuned(), Accumulate::no));
    dw.check("dw");
    db.check("db");
    std::copy(dw_before.begin(), dw_before.end(), more_dw.tuned());
    std::copy(db_before.begin(), db_before.end(), more_db.tuned());
    conv2d_backward_parameters(host,
                               parameters_into(more_dw.tuned(), more_db.tuned(), Accumulate::yes));
    more_dw.check("dw added");
    more_db.check("db added");
    scratch.download();
  }
}

}  // namespace

TEST_CASE("tuned convolutions do what the plain ones do") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(1);
  constexpr index_t most_work = 200000;  // multiplications, so that the test is fast
  for (int shapes = 0; shapes < 320;) {
    const Conv2dGeometry g = random_geometry(random);
    const Slice slice = random.slice();
    if (slice.samples() * g.out_features() * g.taps() > most_work) continue;
    compare(host, random, slice, g);
    ++shapes;
  }
}

TEST_CASE("tuned convolutions of LeNet do what the plain ones do") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(2);
  for (const Slice& slice : {Slice{1, 1, 1}, Slice{4, 1, 4}, Slice{7, 1, 16}}) {
    compare(host, random, slice, square_convolution(3, 32, 32, 6, 5));
    compare(host, random, slice, square_convolution(6, 14, 14, 16, 5));
  }
}
