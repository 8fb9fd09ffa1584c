// An affine map forward and backward on any device, for tests.
#pragma once

#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/tensor_rounding.hpp"

template <class T>
struct LinearProblem {
  gpunet::index_t samples, in, out;
  std::vector<T> x, w, b, dy, dw, db;

  LinearProblem(gpunet::index_t n, gpunet::index_t from, gpunet::index_t to,
                gpunet::Generator& generator)
      : samples(n),
        in(from),
        out(to),
        x(random_values<T>(n * from, generator)),
        w(random_values<T>(to * from, generator)),
        b(random_values<T>(to, generator)),
        dy(random_values<T>(n * to, generator)),
        dw(random_values<T>(to * from, generator)),
        db(random_values<T>(to, generator)) {}

  // The same problem in another type.
  template <class From>
  explicit LinearProblem(const LinearProblem<From>& p) : samples(p.samples), in(p.in), out(p.out) {
    const auto wide = [](const std::vector<From>& values) {
      return std::vector<T>(values.begin(), values.end());
    };
    x = wide(p.x), w = wide(p.w), b = wide(p.b), dy = wide(p.dy), dw = wide(p.dw), db = wide(p.db);
  }
};

template <class T>
struct LinearAnswer {
  std::vector<T> y, dx, dw, db;
  bool operator==(const LinearAnswer&) const = default;
};

// The operations around the products of an affine map.
struct LinearMode {
  gpunet::Activation activation = gpunet::Activation::none;
  gpunet::Accumulate accumulate = gpunet::Accumulate::no;
  bool rectify_dx = false;
};

// On Cuda.
template <class T>
LinearAnswer<T> solve(gpunet::Cuda& device, const LinearProblem<T>& p, const LinearMode& mode) {
  using namespace gpunet;
  const Slice slice{p.samples, p.samples, 1};
  const auto put = [&device](const std::vector<T>& values) {
    return Tensor<T, Cuda>(device, {static_cast<index_t>(values.size())}, values);
  };
  const auto x = put(p.x), w = put(p.w), b = put(p.b);
  auto dy = put(p.dy), dw = put(p.dw), db = put(p.db);
  Tensor<T, Cuda> y(device, {p.samples * p.out}), dx(device, {p.samples * p.in});
  Buffer<T, Cuda> scratch(device, linear_scratch(device, slice, p.in, p.out, T{}));
  linear_forward(device, LinearForwardArgs<T>{slice, p.in, p.out, x.data(), w.data(), b.data(),
                                              y.data(), scratch.data(), mode.activation});
  linear_backward(device, AnySizes{},
                  LinearBackwardArgs<T>{slice, p.in, p.out, x.data(), y.data(), dy.data(), w.data(),
                                        dx.data(), dw.data(), db.data(), mode.accumulate,
                                        scratch.data(), mode.activation, mode.rectify_dx});
  return {y.to_vector(), dx.to_vector(), dw.to_vector(), db.to_vector()};
}

// Solves it with the plain version on Host, in double: its rounding is far below the tolerances.
// The ReLU passes the gradients given by `rectified`: an output near 0 may round to either side,
// with a large effect on its gradient.
inline LinearAnswer<double> solve_exactly(const LinearProblem<double>& p, const LinearMode& mode,
                                          const std::vector<double>& rectified) {
  using namespace gpunet;
  Host host({.threads = 1});
  const Slice slice{p.samples, p.samples, 1};
  LinearAnswer<double> a{std::vector<double>(p.dy.size()), std::vector<double>(p.x.size()), p.dw,
                         p.db};
  std::vector<double> dy = p.dy;
  linear_forward<Host, double>(host, {slice, p.in, p.out, p.x.data(), p.w.data(), p.b.data(),
                                      a.y.data(), nullptr, mode.activation});
  if (mode.activation == Activation::relu)
    rectify_gradient(host, static_cast<index_t>(dy.size()), rectified.data(), dy.data(), dy.data());
  const LinearBackwardArgs<double> backward{slice,       p.in,        p.out,          p.x.data(),
                                            nullptr,     dy.data(),   p.w.data(),     a.dx.data(),
                                            a.dw.data(), a.db.data(), mode.accumulate};
  linear_backward_parameters<Host, double>(host, backward);
  linear_backward_input<Host, double>(host, backward);
  if (mode.rectify_dx)
    rectify_gradient(host, static_cast<index_t>(p.x.size()), p.x.data(), a.dx.data(), a.dx.data());
  return a;
}

// Compares a device's results with exact ones, and checks that a second run is bitwise identical.
template <class T>
void compare(gpunet::Cuda& device, const LinearProblem<T>& p, const LinearMode& mode,
             double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-13) {
  CAPTURE(p.samples);
  CAPTURE(p.in);
  CAPTURE(p.out);
  CAPTURE(static_cast<int>(mode.activation));
  CAPTURE(static_cast<int>(mode.accumulate));
  CAPTURE(mode.rectify_dx);
  const LinearAnswer<T> got = solve(device, p, mode);
  const LinearAnswer<double> expected =
      solve_exactly(LinearProblem<double>(p), mode, {got.y.begin(), got.y.end()});
  CHECK(relative_error(got.y, expected.y) < tolerance);
  CHECK(relative_error(got.dx, expected.dx) < tolerance);
  CHECK(relative_error(got.dw, expected.dw) < tolerance);
  CHECK(relative_error(got.db, expected.db) < tolerance);
  CHECK(solve(device, p, mode) == got);
}
