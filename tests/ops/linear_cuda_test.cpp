#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <array>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/tensor_rounding.hpp"

using namespace gpunet;

namespace {

template <class T>
struct Problem {
  index_t samples, in, out;
  std::vector<T> x, w, b, dy, dw, db;

  Problem(index_t n, index_t from, index_t to, Generator& generator)
      : samples(n),
        in(from),
        out(to),
        x(random_values<T>(n * from, generator)),
        w(random_values<T>(to * from, generator)),
        b(random_values<T>(to, generator)),
        dy(random_values<T>(n * to, generator)),
        dw(random_values<T>(to * from, generator)),
        db(random_values<T>(to, generator)) {}

  // The same problem in double, its factors as tensor cores round them.
  template <class From>
  Problem(const Problem<From>& p, Precision precision) : samples(p.samples), in(p.in), out(p.out) {
    const auto wide = [](const std::vector<From>& values) {
      return std::vector<T>(values.begin(), values.end());
    };
    x = wide(p.x), w = wide(p.w), b = wide(p.b), dy = wide(p.dy), dw = wide(p.dw), db = wide(p.db);
    if (precision == Precision::exact) return;
    for (auto* factor : {&x, &w, &dy})
      for (T& value : *factor)
        value = tensor_rounded(static_cast<float>(value), precision);
  }
};

template <class T>
struct Answer {
  std::vector<T> y, dx, dw, db;
  bool operator==(const Answer&) const = default;
};

// Forward and back on a device; on Host by the plain version.
template <class T, class D>
Answer<T> solve(D& device, const Problem<T>& p, Activation activation, Accumulate accumulate, bool rectify_dx) {
  const Slice slice{p.samples, p.samples, 1};
  const auto put = [&device](const std::vector<T>& values) {
    return Tensor<T, D>(device, {static_cast<index_t>(values.size())}, values);
  };
  const auto x = put(p.x), w = put(p.w), b = put(p.b);
  auto dy = put(p.dy), dw = put(p.dw), db = put(p.db);
  Tensor<T, D> y(device, {p.samples * p.out}), dx(device, {p.samples * p.in});
  if constexpr (std::same_as<D, Host>) {
    linear_forward<D, T>(device, slice, p.in, p.out, x.data(), w.data(), b.data(), y.data(), nullptr, activation);
    if (activation == Activation::relu) rectify_gradient(device, dy.numel(), y.data(), dy.data(), dy.data());
    linear_backward_parameters<D, T>(device, slice, p.in, p.out, x.data(), dy.data(), dw.data(), db.data(),
                                     accumulate, nullptr);
    linear_backward_input<D, T>(device, slice, p.in, p.out, dy.data(), w.data(), dx.data(), nullptr);
    if (rectify_dx) rectify_gradient(device, dx.numel(), x.data(), dx.data(), dx.data());
  } else {
    Buffer<T, D> scratch(device, linear_scratch(device, slice, p.in, p.out, T{}));
    linear_forward(device, slice, p.in, p.out, x.data(), w.data(), b.data(), y.data(), scratch.data(), activation);
    linear_backward(device, slice, p.in, p.out, x.data(), static_cast<const T*>(y.data()), dy.data(), w.data(),
                    dx.data(), dw.data(), db.data(), accumulate, scratch.data(), activation, rectify_dx);
  }
  return {y.to_vector(), dx.to_vector(), dw.to_vector(), db.to_vector()};
}

// As Host computes it in double, whose rounding is far below the tolerances.
template <class T>
void compare(Cuda& device, const Problem<T>& p, Activation activation, Accumulate accumulate, bool rectify_dx,
             Precision precision = Precision::exact) {
  CAPTURE(p.samples);
  CAPTURE(p.in);
  CAPTURE(p.out);
  CAPTURE(rectify_dx);
  Host host({.threads = 1});
  const Answer<double> expected = solve(host, Problem<double>(p, precision), activation, accumulate, rectify_dx);
  const Answer<T> got = solve(device, p, activation, accumulate, rectify_dx);
  const double tolerance = sizeof(T) == 4 ? 1e-6 : 1e-13;
  CHECK(relative_error(got.y, expected.y) < tolerance);
  CHECK(relative_error(got.dx, expected.dx) < tolerance);
  CHECK(relative_error(got.dw, expected.dw) < tolerance);
  CHECK(relative_error(got.db, expected.db) < tolerance);
  CHECK(solve(device, p, activation, accumulate, rectify_dx) == got);
}

}  // namespace

TEST_CASE_TEMPLATE("affine maps on Cuda are those of Host", T, float, double) {
  Generator generator(3);
  int i = 0;
  for (index_t samples : {0, 1, 4, 33})
    for (index_t in : {1, 7, 70})
      for (index_t out : {1, 5, 40}) {
        const Problem<T> p(samples, in, out, generator);
        compare(test_device<Cuda>(), p, i % 2 ? Activation::relu : Activation::none,
                i % 3 ? Accumulate::yes : Accumulate::no, i % 5 < 2);
        ++i;
      }
}

TEST_CASE("large affine maps on Cuda are those of Host") {
  Generator generator(4);
  const Problem<float> p(64, 513, 512, generator);
  REQUIRE(detail::is_large_linear<float>({64, 64, 1}, 513, 512));
  for (Activation activation : {Activation::none, Activation::relu})
    for (Accumulate accumulate : {Accumulate::no, Accumulate::yes})
      compare(test_device<Cuda>(), p, activation, accumulate, activation == Activation::none);
}

TEST_CASE("large affine maps by tensor cores of Cuda are those of rounded factors") {
  Generator generator(6);
  const Problem<float> p(64, 513, 512, generator);
  Cuda device(0, {Precision::tf32});
  if (device.architecture() < detail::tensor_architecture)
    return;  // no tf32 there; a simulator may round all the same
  compare(device, p, Activation::relu, Accumulate::no, true, Precision::tf32);
}

TEST_CASE("small affine maps on Cuda are exact, whatever precision is allowed") {
  for (Precision precision : {Precision::tf32, Precision::bf16}) {
    CAPTURE(static_cast<int>(precision));
    Cuda device(0, {precision});
    Generator generator(5);
    for (const auto& [samples, in, out] :
         {std::array<index_t, 3>{33, 1, 35}, {40, 30, 33}, {65, 71, 66}, {32, 9, 32}})
      for (Activation activation : {Activation::none, Activation::relu})
        compare(device, Problem<float>(samples, in, out, generator), activation, Accumulate::yes, true);
  }
}

TEST_CASE("on tensor cores of Cuda a ReLU leaves bits, and the layer above rectifies by them as by its input") {
  Generator generator(5);
  for (Precision precision : {Precision::tf32, Precision::bf16}) {
    Cuda device(0, {precision});
    const index_t samples = 130, in = 257, between = 513, out = 300;
    const Slice slice{samples, samples, 1};
    REQUIRE(linear_leaves_relu_bits(device, slice, in, between));
    CHECK(!linear_leaves_relu_bits(device, {60, 60, 1}, in, between));
    CHECK(!linear_leaves_relu_bits(test_device<Cuda>(), slice, in, between));
    const auto values = [&](index_t n) {
      return Tensor<float, Cuda>(device, {n}, random_values<float>(n, generator));
    };
    const auto x = values(samples * in), w = values(between * in), b = values(between),
               above = values(out * between);
    auto dy = values(samples * out);
    Tensor<float, Cuda> y(device, {samples * between}), plain_y(device, y.sizes());
    Buffer<std::byte, Cuda> bits(device, samples * relu_bits_bytes(between));
    linear_forward(device, slice, in, between, x.data(), w.data(), b.data(), y.data(), static_cast<float*>(nullptr),
                   Activation::relu, bits.data());
    linear_forward(device, slice, in, between, x.data(), w.data(), b.data(), plain_y.data(),
                   static_cast<float*>(nullptr), Activation::relu);
    CHECK(y.to_vector() == plain_y.to_vector());

    const auto input_gradient = [&](bool rectify, const std::byte* relu_bits) {
      Tensor<float, Cuda> dx(device, y.sizes()), dw(device, above.sizes()), db(device, {out});
      linear_backward(device, slice, between, out, static_cast<const float*>(y.data()),
                      static_cast<const float*>(nullptr), dy.data(), above.data(), dx.data(), dw.data(), db.data(),
                      Accumulate::no, static_cast<float*>(nullptr), Activation::none, rectify, relu_bits);
      return dx.to_vector();
    };
    const std::vector<float> rectified = input_gradient(true, nullptr);
    CHECK(input_gradient(true, bits.data()) == rectified);
    CHECK(input_gradient(false, bits.data()) != rectified);
    CHECK(input_gradient(false, bits.data()) == input_gradient(false, nullptr));
  }
}

#endif
