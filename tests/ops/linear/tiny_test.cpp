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

// Forward and both ways back with constant sizes, which take the unrolled kernels, and the plain
// version.
template <index_t In, index_t Out>
void compare(Host& host, RandomShapes& random, const Slice& slice) {
  CAPTURE(In);
  CAPTURE(Out);
  CAPTURE(slice.count);
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  constexpr TinySizes<In, Out> tiny{};
  const auto x = operand(host, random.values(slice, In)),
             dy = operand(host, random.values(slice, Out));
  const auto w = operand(host, random.values(Out * In)),
             b = operand(host, random_biases(random, Out));
  const std::vector<float> dw_before = random.values(Out * In), db_before = random.values(Out);
  Outcome y(host, slice.samples() * Out), rectified(host, slice.samples() * Out),
      dx(host, slice.samples() * In);
  Outcome dw(host, Out * In), db(host, Out), more_dw(host, Out * In), more_db(host, Out);
  more_dw.start(dw_before);
  more_db.start(db_before);
  LinearForwardArgs<float> forward{slice, In, Out, x.data(), w.data(), b.data()};
  LinearBackwardArgs<float> backward{
      .slice = slice, .in = In, .out = Out, .x = x.data(), .dy = dy.data(), .w = w.data()};
  const auto forward_into = [&](float* result, Activation activation) {
    forward.y = result;
    forward.activation = activation;
    return forward;
  };
  const auto backward_into = [&](float* weights, float* biases, Accumulate accumulate) {
    backward.dw = weights;
    backward.db = biases;
    backward.accumulate = accumulate;
    return backward;
  };
  linear_forward<Host, float>(host, forward_into(y.plain(), Activation::none));
  rectify(host, slice.samples() * Out, static_cast<const float*>(y.plain()), rectified.plain());
  backward.dx = dx.plain();
  linear_backward_input<Host, float>(host, backward);
  linear_backward_parameters<Host, float>(host,
                                          backward_into(dw.plain(), db.plain(), Accumulate::no));
  linear_backward_parameters<Host, float>(
      host, backward_into(more_dw.plain(), more_db.plain(), Accumulate::yes));
  GuardedBuffer<float, Host> scratch(host, linear_scratch(host, slice, In, Out, float{}));
  forward.scratch = backward.scratch = scratch.data();
  backward.dx = dx.tuned();
  for (Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    set_isa(path);
    linear_forward(host, tiny, forward_into(y.tuned(), Activation::none));
    y.check("y");
    linear_forward(host, tiny, forward_into(rectified.tuned(), Activation::relu));
    rectified.check("max(y, 0)");
    linear_backward_input(host, tiny, backward);
    dx.check("dx");
    linear_backward_parameters(host, tiny, backward_into(dw.tuned(), db.tuned(), Accumulate::no));
    dw.check("dw");
    db.check("db");
    std::copy(dw_before.begin(), dw_before.end(), more_dw.tuned());
    std::copy(db_before.begin(), db_before.end(), more_db.tuned());
    linear_backward_parameters(host, tiny,
                               backward_into(more_dw.tuned(), more_db.tuned(), Accumulate::yes));
    more_dw.check("dw added");
    more_db.check("db added");
  }
}

template <index_t In, index_t Out>
void compare_all() {
  const KeepIsa keep;
  Host host({.threads = 1});
  RandomShapes random(static_cast<int>(In * 1000 + Out));
  for (const Slice& slice : {Slice{16, 1, 16}, Slice{3, 1, 16}, Slice{120, 8, 16}, Slice{37, 3, 16},
                             Slice{7, 2, 4}, Slice{3, 3, 1}})
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
