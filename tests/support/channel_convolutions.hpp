// Convolutions between many channels: problems with reference results in double, and results of a
// host.
#pragma once

#include <doctest/doctest.h>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/conv2d/host/wide.hpp>

#include "support/geometry_text.hpp"
#include "support/tuned_check.hpp"

// Operands and reference results, in double, of one convolution; c is added to dx, as the bias of
// a transposed one.
template <class Geometry>
struct ConvolutionProblem {
  gpunet::Slice slice;
  Geometry g;
  std::vector<double> x, dy, w, b, c, y, dx, dw, db;

  ConvolutionProblem(const gpunet::Slice& of, const Geometry& geometry, gpunet::Generator& random)
      : slice(of),
        g(geometry),
        x(data(g.in_features(), random)),
        dy(data(g.out_features(), random)),
        w(random_values<double>(g.out_channels * g.taps(), random)),
        b(random_values<double>(g.out_channels, random)),
        c(random_values<double>(g.in_channels, random)),
        y(dy.size()),
        dx(x.size()),
        dw(w.size()),
        db(b.size()) {
    for (auto* values : {&x, &dy, &w, &b, &c})
      for (double& value : *values)
        value = static_cast<float>(value);
    gpunet::Host host({.threads = 1});
    gpunet::conv2d_forward<gpunet::Host, double>(
        host, gpunet::Conv2dForwardArgs<double, Geometry>{
                  slice, {g}, x.data(), w.data(), b.data(), y.data()});
    gpunet::Conv2dBackwardArgs<double, Geometry> backward{
        slice, {g}, x.data(), nullptr, dy.data(), w.data(), dx.data(), dw.data(), db.data()};
    backward.b = c.data();
    gpunet::conv2d_backward_input<gpunet::Host, double>(host, backward);
    gpunet::conv2d_backward_parameters<gpunet::Host, double>(host, backward);
  }

 private:
  std::vector<double> data(gpunet::index_t features, gpunet::Generator& random) const {
    return to_slice_order(slice, features, random_values<double>(slice.count * features, random));
  }
};

inline std::vector<float> to_floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// Results of a host; more_dw and more_db were accumulated onto the first ones.
struct ConvolutionResults {
  std::vector<float> y, dx, dw, db, more_dw, more_db;
  bool operator==(const ConvolutionResults&) const = default;
};

// The functions are found by the type of the geometry, which may belong to the test.
template <class Geometry>
ConvolutionResults run(gpunet::Host& host, const ConvolutionProblem<Geometry>& p) {
  const auto x = operand(host, to_floats(p.x)), dy = operand(host, to_floats(p.dy));
  const auto w = operand(host, to_floats(p.w)), b = operand(host, to_floats(p.b)),
             c = operand(host, to_floats(p.c));
  const auto size = [](const auto& values) {
    return static_cast<gpunet::index_t>(values.size());
  };
  GuardedBuffer<float, gpunet::Host> y(host, size(p.y)), dx(host, size(p.x)), dw(host, size(p.w)),
      db(host, size(p.b));
  GuardedBuffer<float, gpunet::Host> scratch(host, conv2d_scratch(host, p.slice, p.g, float{}));
  conv2d_forward(host, gpunet::Conv2dForwardArgs<float, Geometry>{
                           p.slice, {p.g}, x.data(), w.data(), b.data(), y.data(), scratch.data()});
  scratch.fill_with_nan();
  gpunet::Conv2dBackwardArgs<float, Geometry> backward{
      p.slice, {p.g}, x.data(), nullptr, dy.data(), w.data(), dx.data(), dw.data(), db.data()};
  backward.scratch = scratch.data();
  backward.b = c.data();
  conv2d_backward_input(host, backward);
  ConvolutionResults results{y.download(), dx.download(), {}, {}, {}, {}};
  for (gpunet::Accumulate accumulate : {gpunet::Accumulate::no, gpunet::Accumulate::yes}) {
    scratch.fill_with_nan();
    backward.accumulate = accumulate;
    conv2d_backward_parameters(host, backward);
    (accumulate == gpunet::Accumulate::no ? results.dw : results.more_dw) = dw.download();
    (accumulate == gpunet::Accumulate::no ? results.db : results.more_db) = db.download();
  }
  scratch.download();
  return results;
}

inline std::vector<double> twice(std::vector<double> values) {
  for (double& value : values)
    value *= 2;
  return values;
}

template <class Geometry>
void check(const ConvolutionResults& results, const ConvolutionProblem<Geometry>& p, double most) {
  CHECK(relative_error(p.y, results.y) < most);
  CHECK(relative_error(p.dx, results.dx) < most);
  CHECK(relative_error(p.dw, results.dw) < most);
  CHECK(relative_error(p.db, results.db) < most);
  CHECK(relative_error(twice(p.dw), results.more_dw) < most);
  CHECK(relative_error(twice(p.db), results.more_db) < most);
}

// Checks that every vector path agrees with the plain version, bitwise identical for any number of
// threads. `most` is the largest error, relative to the largest number.
template <class Geometry>
void compare_with_plain(gpunet::HostOptions options, const gpunet::Slice& slice, const Geometry& g,
                        gpunet::Generator& random, double most) {
  CAPTURE(text_of(g));
  CAPTURE(slice.outer);
  const KeepIsa keep;
  const ConvolutionProblem problem(slice, g, random);
  for (gpunet::Isa path : isas()) {
    CAPTURE(static_cast<int>(path));
    gpunet::set_isa(path);
    options.threads = 1;
    gpunet::Host one(options);
    const ConvolutionResults results = run(one, problem);
    check(results, problem, most);
    for (options.threads = 2; options.threads <= 3; ++options.threads) {
      gpunet::Host several(options);
      CHECK(run(several, problem) == results);
    }
  }
}

inline gpunet::WideConv2dGeometry channel_convolution(gpunet::index_t in, gpunet::index_t out,
                                                      gpunet::index_t height, gpunet::index_t width,
                                                      gpunet::index_t kernel,
                                                      gpunet::index_t stride,
                                                      gpunet::index_t padding) {
  return {square_convolution(in, height, width, out, kernel, stride, padding)};
}
