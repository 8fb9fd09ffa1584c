#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

// Some of them so low that the outputs are negative.
std::vector<float> random_biases(RandomShapes& random, index_t n) {
  std::vector<float> biases = random.values(n);
  for (float& bias : biases)
    if (random.pick(0, 2) == 0) bias -= 100;
  return biases;
}

// Forward and both ways back with constant sizes, which take the unrolled kernels, and the plain version.
template <index_t In, index_t Out>
void compare(Host& host, RandomShapes& random, const Slice& slice) {
  CAPTURE(In);
  CAPTURE(Out);
  CAPTURE(slice.count);
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  constexpr Dim<In> in{};
  constexpr Dim<Out> out{};
  const auto x = operand(host, random.values(slice, In)), dy = operand(host, random.values(slice, Out));
  const auto w = operand(host, random.values(Out * In)), b = operand(host, random_biases(random, Out));
  const std::vector<float> dw_before = random.values(Out * In), db_before = random.values(Out);
  Outcome y(host, slice.samples() * Out), rectified(host, slice.samples() * Out), dx(host, slice.samples() * In);
  Outcome dw(host, Out * In), db(host, Out), more_dw(host, Out * In), more_db(host, Out);
  more_dw.start(dw_before);
  more_db.start(db_before);
  linear_forward<Host, float>(host, slice, In, Out, x.data(), w.data(), b.data(), y.plain(), nullptr);
  rectify(host, slice.samples() * Out, static_cast<const float*>(y.plain()), rectified.plain());
  linear_backward_input<Host, float>(host, slice, In, Out, dy.data(), w.data(), dx.plain(), nullptr);
  linear_backward_parameters<Host, float>(host, slice, In, Out, x.data(), dy.data(), dw.plain(), db.plain(),
                                          Accumulate::no, nullptr);
  linear_backward_parameters<Host, float>(host, slice, In, Out, x.data(), dy.data(), more_dw.plain(),
                                          more_db.plain(), Accumulate::yes, nullptr);
  GuardedBuffer<float, Host> scratch(host, linear_scratch(host, slice, In, Out, float{}));
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    linear_forward(host, slice, in, out, x.data(), w.data(), b.data(), y.tuned(), scratch.data());
    y.check("y");
    linear_forward(host, slice, in, out, x.data(), w.data(), b.data(), rectified.tuned(), scratch.data(),
                   Activation::relu);
    rectified.check("max(y, 0)");
    linear_backward_input(host, slice, in, out, dy.data(), w.data(), dx.tuned(), scratch.data());
    dx.check("dx");
    linear_backward_parameters(host, slice, in, out, x.data(), dy.data(), dw.tuned(), db.tuned(), Accumulate::no,
                               scratch.data());
    dw.check("dw");
    db.check("db");
    std::copy(dw_before.begin(), dw_before.end(), more_dw.tuned());
    std::copy(db_before.begin(), db_before.end(), more_db.tuned());
    linear_backward_parameters(host, slice, in, out, x.data(), dy.data(), more_dw.tuned(), more_db.tuned(),
                               Accumulate::yes, scratch.data());
    more_dw.check("dw added");
    more_db.check("db added");
  }
}

template <index_t In, index_t Out>
void compare_all() {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(static_cast<int>(In * 1000 + Out));
  for (const Slice& slice :
       {Slice{16, 1, 16}, Slice{3, 1, 16}, Slice{120, 8, 16}, Slice{37, 3, 16}, Slice{7, 2, 4}, Slice{3, 3, 1}})
    compare<In, Out>(host, random, slice);
}

}  // namespace

TEST_CASE("unrolled affine maps do what the plain ones do") {
  compare_all<4, 8>();
  compare_all<8, 9>();
  compare_all<9, 3>();
  compare_all<1, 1>();
  compare_all<2, 5>();
  compare_all<11, 11>();
  compare_all<3, 42>();
  compare_all<40, 3>();
  compare_all<1, 128>();
  compare_all<128, 1>();
}
