#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>

#include "support/tuned_check.hpp"

using namespace gpunet;

namespace {

// Winograd's F(4x4, 3x3) loses digits where its transforms add numbers that cancel later. The rows of B^T, G and A^T
// have absolute sums of at most 10, 1 and 19 (Lavin and Gray, 2015), squared for two dimensions, against 1 for the
// direct sum; what is left of rounding errors of 6e-8 each, which are independent and do not reach their bound, stays
// under 1e-5 of the largest output in the literature and here. Inputs of both signs, as networks have them.
constexpr double tolerance = 2e-5;

// Operands and plain results in double of one convolution.
struct Problem {
  Slice slice;
  WideConv2dGeometry g;
  std::vector<double> x, dy, w, b, y, dx, dw, db;

  Problem(const Slice& of, const WideConv2dGeometry& geometry, Generator& random)
      : slice(of),
        g(geometry),
        x(data(g.in_features(), random)),
        dy(data(g.out_features(), random)),
        w(random_values<double>(g.out_channels * g.taps(), random)),
        b(random_values<double>(g.out_channels, random)),
        y(dy.size()),
        dx(x.size()),
        dw(w.size()),
        db(b.size()) {
    for (auto* values : {&x, &dy, &w, &b})
      for (double& value : *values)
        value = static_cast<float>(value);
    Host host({.threads = 1});
    conv2d_forward<Host, double>(host, slice, g, x.data(), w.data(), b.data(), y.data(), nullptr);
    conv2d_backward_input<Host, double>(host, slice, g, dy.data(), w.data(), dx.data(), nullptr);
    conv2d_backward_parameters<Host, double>(host, slice, g, x.data(), dy.data(), dw.data(), db.data(),
                                             Accumulate::no, nullptr);
  }

 private:
  std::vector<double> data(index_t features, Generator& random) const {
    return to_slice_order(slice, features, random_values<double>(slice.count * features, random));
  }
};

std::vector<float> to_floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// What a host made of a problem.
struct Results {
  std::vector<float> y, dx, dw, db, more_dw, more_db;
  bool operator==(const Results&) const = default;
};

Results run(Host& host, const Problem& p) {
  const auto x = operand(host, to_floats(p.x)), dy = operand(host, to_floats(p.dy));
  const auto w = operand(host, to_floats(p.w)), b = operand(host, to_floats(p.b));
  const auto size = [](const auto& values) {
    return static_cast<index_t>(values.size());
  };
  GuardedBuffer<float, Host> y(host, size(p.y)), dx(host, size(p.x)), dw(host, size(p.w)), db(host, size(p.b));
  GuardedBuffer<float, Host> scratch(host, conv2d_scratch(host, p.slice, p.g, float{}));
  conv2d_forward(host, p.slice, p.g, x.data(), w.data(), b.data(), y.data(), scratch.data());
  scratch.fill_with_nan();
  conv2d_backward_input(host, p.slice, p.g, dy.data(), w.data(), dx.data(), scratch.data());
  Results results{y.download(), dx.download(), {}, {}, {}, {}};
  for (Accumulate accumulate : {Accumulate::no, Accumulate::yes}) {
    scratch.fill_with_nan();
    conv2d_backward_parameters(host, p.slice, p.g, x.data(), dy.data(), dw.data(), db.data(), accumulate,
                               scratch.data());
    (accumulate == Accumulate::no ? results.dw : results.more_dw) = dw.download();
    (accumulate == Accumulate::no ? results.db : results.more_db) = db.download();
  }
  scratch.download();
  return results;
}

std::vector<double> twice(std::vector<double> values) {
  for (double& value : values)
    value *= 2;
  return values;
}

void check(const Results& results, const Problem& p, double most) {
  CHECK(relative_error(p.y, results.y) < most);
  CHECK(relative_error(p.dx, results.dx) < most);
  CHECK(relative_error(p.dw, results.dw) < most);
  CHECK(relative_error(p.db, results.db) < most);
  CHECK(relative_error(twice(p.dw), results.more_dw) < most);
  CHECK(relative_error(twice(p.db), results.more_db) < most);
}

WideConv2dGeometry geometry(index_t in, index_t out, index_t height, index_t width, index_t padding) {
  return {{in, height, width, out, height + 2 * padding - 2, width + 2 * padding - 2, 3, 1, padding}};
}

}  // namespace

TEST_CASE("Winograd's convolution does what the plain one does, with the same bits for any number of threads") {
  const KeepIsa keep;
  Generator random(1);
  Host one({.threads = 1}), two({.threads = 2}), three({.threads = 3});
  const auto compare = [&](const Slice& slice, const WideConv2dGeometry& g) {
    CAPTURE(g.in_channels);
    CAPTURE(g.height);
    CAPTURE(g.width);
    CAPTURE(g.out_channels);
    CAPTURE(g.padding);
    CAPTURE(slice.outer);
    REQUIRE(detail::winograd_pays(one, slice, g));
    const Problem problem(slice, g, random);
    for (Isa path : isas()) {
      CAPTURE(static_cast<int>(path));
      set_isa(path);
      const Results results = run(one, problem);
      check(results, problem, tolerance);
      CHECK(run(two, problem) == results);
      CHECK(run(three, problem) == results);
    }
  };
  compare({16, 1, 16}, geometry(16, 16, 8, 8, 1));
  compare({32, 2, 16}, geometry(16, 16, 4, 12, 1));
  compare({29, 2, 16}, geometry(17, 35, 7, 9, 1));
  compare({41, 3, 16}, geometry(33, 18, 5, 6, 2));
  compare({16, 1, 16}, geometry(19, 21, 9, 7, 0));
  compare({13, 1, 16}, geometry(70, 16, 6, 5, 1));
  compare({32, 2, 16}, geometry(16, 70, 3, 6, 2));
  compare({16, 1, 16}, geometry(25, 49, 6, 6, 0));
}

TEST_CASE("an exact host does not use Winograd's convolution") {
  Generator random(2);
  Host fast({.threads = 1}), exact({.threads = 1, .precision = Precision::exact});
  CHECK(fast.precision() == Precision::fast);
  const Slice slice{16, 1, 16};
  const WideConv2dGeometry g = geometry(16, 16, 8, 8, 1);
  CHECK(detail::winograd_pays(fast, slice, g));
  CHECK_FALSE(detail::winograd_pays(exact, slice, g));
  const Problem problem(slice, g, random);
  const Results results = run(exact, problem);
  check(results, problem, 2e-6);  // the error of 144 or, over samples and places, 1024 additions in float
  CHECK(run(fast, problem).y != results.y);
}

TEST_CASE("Winograd's convolution leaves what does not fit to the direct one") {
  const Host host({.threads = 1});
  const Slice slice{16, 1, 16};
  const WideConv2dGeometry fits = geometry(16, 16, 8, 8, 1);
  WideConv2dGeometry wide_kernel = fits, stride = fits, few = fits;
  wide_kernel.kernel = 5;
  stride.stride = 2;
  few.in_channels = 3;
  CHECK(detail::winograd_pays(host, slice, fits));
  CHECK_FALSE(detail::winograd_pays(host, {4, 1, 4}, fits));
  CHECK_FALSE(detail::winograd_pays(host, slice, wide_kernel));
  CHECK_FALSE(detail::winograd_pays(host, slice, stride));
  CHECK_FALSE(detail::winograd_pays(host, slice, few));
}
