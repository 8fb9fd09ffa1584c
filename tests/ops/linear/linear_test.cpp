#include <array>
#include <cmath>
#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

// Forward and both ways back, tuned and plain.
void compare(Host& host, RandomShapes& random, const Slice& slice, index_t in, index_t out) {
  CAPTURE(in);
  CAPTURE(out);
  CAPTURE(slice.count);
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  const auto x = operand(host, random.values(slice, in)),
             dy = operand(host, random.values(slice, out));
  const auto w = operand(host, random.values(out * in)), b = operand(host, random.values(out));
  const std::vector<float> dw_before = random.values(out * in), db_before = random.values(out);
  Outcome y(host, slice.samples() * out), rectified(host, slice.samples() * out),
      dx(host, slice.samples() * in);
  Outcome dw(host, out * in), db(host, out), more_dw(host, out * in), more_db(host, out);
  more_dw.start(dw_before);
  more_db.start(db_before);
  LinearForwardArgs<float> forward{slice, in, out, x.data(), w.data(), b.data()};
  LinearBackwardArgs<float> backward{
      .slice = slice, .in = in, .out = out, .x = x.data(), .dy = dy.data(), .w = w.data()};
  const auto forward_into = [&](float* result, Activation activation) {
    forward.y = result;
    forward.activation = activation;
    return forward;
  };
  const auto parameters_into = [&](float* weights, float* biases, Accumulate accumulate) {
    backward.dw = weights;
    backward.db = biases;
    backward.accumulate = accumulate;
    return backward;
  };
  const auto input_into = [&](float* result) {
    backward.dx = result;
    return backward;
  };
  linear_forward<Host, float>(host, forward_into(y.plain(), Activation::none));
  linear_forward<Host, float>(host, forward_into(rectified.plain(), Activation::relu));
  linear_backward_input<Host, float>(host, input_into(dx.plain()));
  linear_backward_parameters<Host, float>(host,
                                          parameters_into(dw.plain(), db.plain(), Accumulate::no));
  linear_backward_parameters<Host, float>(
      host, parameters_into(more_dw.plain(), more_db.plain(), Accumulate::yes));
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    GuardedBuffer<float, Host> scratch(host, linear_scratch(host, slice, in, out, float{}));
    forward.scratch = backward.scratch = scratch.data();
    linear_forward(host, forward_into(y.tuned(), Activation::none));
    y.check("y");
    scratch.fill_with_nan();
    linear_forward(host, forward_into(rectified.tuned(), Activation::relu));
    rectified.check("max(y, 0)");
    scratch.fill_with_nan();
    linear_backward_input(host, input_into(dx.tuned()));
    dx.check("dx");
    scratch.fill_with_nan();
    linear_backward_parameters(host, parameters_into(dw.tuned(), db.tuned(), Accumulate::no));
    dw.check("dw");
    db.check("db");
    std::copy(dw_before.begin(), dw_before.end(), more_dw.tuned());
    std::copy(db_before.begin(), db_before.end(), more_db.tuned());
    linear_backward_parameters(host,
                               parameters_into(more_dw.tuned(), more_db.tuned(), Accumulate::yes));
    more_dw.check("dw added");
    more_db.check("db added");
    scratch.download();
  }
}

}  // namespace

TEST_CASE("tuned affine maps do what the plain ones do") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(1);
  for (int shapes = 0; shapes < 320; ++shapes) {
    const index_t in = random.pick(0, 1) ? random.pick(1, 20) : random.pick(1, 150);
    const index_t out = random.pick(0, 1) ? random.pick(1, 20) : random.pick(1, 70);
    compare(host, random, random.slice(), in, out);
  }
}

TEST_CASE("tuned affine maps of LeNet do what the plain ones do") {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(2);
  for (const Slice& slice : {Slice{1, 1, 1}, Slice{4, 1, 4}, Slice{7, 1, 16}})
    for (const auto& [in, out] : {std::array<index_t, 2>{400, 120}, {120, 84}, {84, 10}})
      compare(host, random, slice, in, out);
}

TEST_CASE("tuned affine maps of many groups of samples do what the plain ones do") {
  const KeepIsa keep;
  Host host({.threads = 2});
  RandomShapes random(3);
  for (const auto& [groups, in, out] : {std::array<index_t, 3>{2, 33, 18},
                                        {3, 20, 10},
                                        {4, 300, 40},
                                        {5, 24, 130},
                                        {7, 3, 5},
                                        {9, 40, 1},
                                        {1, 280, 260}})
    compare(host, random, {groups * 16 - 5, groups, 16}, in, out);
}

TEST_CASE("tuned affine maps of many rows of one sample do what the plain ones do") {
  const KeepIsa keep;
  Host host({.threads = 2});
  RandomShapes random(5);
  for (int shapes = 0; shapes < 40; ++shapes) {
    const index_t rows = random.pick(2, 70);
    compare(host, random, {rows, rows, 1}, random.pick(1, 90), random.pick(1, 90));
  }
}

TEST_CASE("tuned affine maps of one sample and a large matrix do what the plain ones do") {
  const KeepIsa keep;
  Host host({.threads = 3});
  RandomShapes random(4);
  compare(host, random, {1, 1, 1}, 1001, 1100);
}

TEST_CASE_TEMPLATE("an affine map with an activation", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : {Slice{2, 1, 4}, Slice{2, 1, 16}, Slice{2, 2, 1}}) {
    if (std::is_same_v<D, Cuda> && slice.inner > 1) continue;  // Cuda has no such slices
    const float nan = std::nanf("");
    const Tensor<float, D> x(device, {slice.samples()},
                             to_slice_order(slice, 1, std::vector<float>{1, nan}));
    const Tensor<float, D> w(device, {3}, std::vector<float>{2, -2, 0}),
        b(device, {3}, std::vector<float>{1, 1, 0});
    Tensor<float, D> y(device, {slice.samples() * 3});
    Buffer<float, D> scratch(device, linear_scratch(device, slice, 1, 3, float{}));
    linear_forward(device, LinearForwardArgs<float>{slice, 1, 3, x.data(), w.data(), b.data(),
                                                    y.data(), scratch.data(), Activation::relu});
    const std::vector<float> rows = to_rows(slice, 3, y.to_vector().data());
    CHECK(std::vector<float>(rows.begin(), rows.begin() + 3) == std::vector<float>{3, 0, 0});
    CHECK(std::isnan(rows[3]));
  }
}

TEST_CASE(
    "affine maps whose sizes are known to be small do what the others do, with any number of "
    "threads") {
  const KeepIsa keep;
  RandomShapes random(5);
  constexpr index_t in = 33, out = 18;
  static_assert(small_linear_sizes(in, out));
  for (const Slice& slice :
       {Slice{1, 1, 1}, Slice{4, 1, 4}, Slice{10, 3, 4}, Slice{16, 1, 16}, Slice{2000, 125, 16}}) {
    CAPTURE(slice.outer);
    CAPTURE(slice.inner);
    Host one({.threads = 1});
    const auto x = operand(one, random.values(slice, in)),
               dy = operand(one, random.values(slice, out));
    const auto w = operand(one, random.values(in * out)), b = operand(one, random.values(out));
    Outcome y(one, slice.samples() * out), dx(one, slice.samples() * in), dw(one, in * out),
        db(one, out);
    LinearForwardArgs<float> forward{slice, in, out, x.data(), w.data(), b.data(), y.plain()};
    forward.activation = Activation::relu;
    LinearBackwardArgs<float> backward{.slice = slice,
                                       .in = in,
                                       .out = out,
                                       .x = x.data(),
                                       .dy = dy.data(),
                                       .w = w.data(),
                                       .dx = dx.plain(),
                                       .dw = dw.plain(),
                                       .db = db.plain()};
    linear_forward<Host, float>(one, forward);
    linear_backward_input<Host, float>(one, backward);
    linear_backward_parameters<Host, float>(one, backward);
    forward.y = y.tuned();
    backward.dx = dx.tuned(), backward.dw = dw.tuned(), backward.db = db.tuned();
    for (Isa path : isas()) {
      set_isa(path);
      std::vector<float> gradients;
      for (int threads : {1, 3}) {
        Host host({.threads = threads});
        GuardedBuffer<float, Host> scratch(
            host, linear_scratch(host, SmallSizes{}, slice, in, out, float{}));
        forward.scratch = backward.scratch = scratch.data();
        linear_forward(host, SmallSizes{}, forward);
        linear_backward_input(host, SmallSizes{}, backward);
        linear_backward_parameters(host, SmallSizes{}, backward);
        y.check("y");
        dx.check("dx");
        dw.check("dw");
        db.check("db");
        const std::vector<float> now(dw.tuned(), dw.tuned() + in * out);
        CHECK((gradients.empty() || gradients == now));
        gradients = now;
      }
    }
  }
}

TEST_CASE("a slice of many groups has scratch for all of them, whichever way its sizes are given") {
  const Host host({.threads = 1});
  const Slice slice{2000, 125, 16};
  CHECK(linear_scratch(host, slice, 33, 18, float{}) == 2000 * 33);
  CHECK(linear_scratch(host, SmallSizes{}, slice, 33, 18, float{}) == 2000 * 33);
  // The plain version needs none.
  CHECK(linear_scratch(host, SmallSizes{}, slice, 33, 18, double{}) == 0);
}
