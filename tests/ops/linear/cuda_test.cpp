#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/linear/cuda/linear_products.cuh>

#include "support/devices.hpp"
#include "support/linear_problem.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("affine maps on Cuda are those of Host", T, float, double) {
  Generator generator(3);
  int i = 0;
  for (index_t samples : {0, 1, 4, 33})
    for (index_t in : {1, 7, 70})
      for (index_t out : {1, 5, 40}) {
        const LinearProblem<T> p(samples, in, out, generator);
        compare(test_device<Cuda>(), p,
                {i % 2 ? Activation::relu : Activation::none,
                 i % 3 ? Accumulate::yes : Accumulate::no, i % 5 < 2});
        ++i;
      }
}

TEST_CASE("large affine maps on Cuda are those of Host, as far as the precision allows") {
  Generator generator(4);
  const LinearProblem<float> p(64, 513, 512, generator);
  REQUIRE(detail::is_large_linear<float>({64, 64, 1}, 513, 512));
  for (Precision precision : {Precision::exact, Precision::tf32, Precision::bf16}) {
    CAPTURE(static_cast<int>(precision));
    Cuda device(0, {precision});
    for (Activation activation : {Activation::none, Activation::relu})
      for (Accumulate accumulate : {Accumulate::no, Accumulate::yes})
        compare(device, p, {activation, accumulate, activation == Activation::none},
                library_tolerance(precision));
  }
}

TEST_CASE("narrow affine maps on Cuda do not go to cuBLASLt, however large they are") {
  const Slice slice{4096, 4096, 1};
  CHECK_FALSE(detail::is_large_linear<float>(slice, 4096, 31));
  CHECK(detail::is_large_linear<float>(slice, 4096, 32));
  CHECK_FALSE(detail::is_large_linear<double>(slice, 4096, 32));
  Cuda device(0, {Precision::tf32});
  CHECK_FALSE(linear_leaves_relu_bits(device, slice, 4096, 31));
  Generator generator(7);
  compare(device, LinearProblem<float>(1024, 529, 31, generator),
          {Activation::relu, Accumulate::yes, true}, 1e-6);
  CHECK(device.made_blas() == nullptr);
}

TEST_CASE("small affine maps on Cuda are exact, whatever precision is allowed") {
  for (Precision precision : {Precision::tf32, Precision::bf16}) {
    CAPTURE(static_cast<int>(precision));
    Cuda device(0, {precision});
    Generator generator(5);
    for (const auto& [samples, in, out] :
         {std::array<index_t, 3>{33, 1, 35}, {40, 30, 33}, {65, 71, 66}, {32, 9, 32}})
      for (Activation activation : {Activation::none, Activation::relu})
        compare(device, LinearProblem<float>(samples, in, out, generator),
                {activation, Accumulate::yes, true});
  }
}

TEST_CASE(
    "on tensor cores of Cuda a ReLU leaves bits, and the layer above rectifies by them as by its "
    "input") {
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
    LinearForwardArgs<float> forward{slice,    in,       between,       x.data(),
                                     w.data(), b.data(), plain_y.data()};
    forward.activation = Activation::relu;
    linear_forward(device, forward);
    forward.y = y.data();
    forward.relu_bits = bits.data();
    linear_forward(device, forward);
    // Each is that far from the exact one.
    const double tolerance = 2 * library_tolerance(precision);
    CHECK(relative_error(y.to_vector(), plain_y.to_vector()) < tolerance);

    const auto input_gradient = [&](bool rectify, const std::byte* relu_bits) {
      Tensor<float, Cuda> dx(device, y.sizes()), dw(device, above.sizes()), db(device, {out});
      linear_backward(device, AnySizes{},
                      LinearBackwardArgs<float>{.slice = slice,
                                                .in = between,
                                                .out = out,
                                                .x = y.data(),
                                                .dy = dy.data(),
                                                .w = above.data(),
                                                .dx = dx.data(),
                                                .dw = dw.data(),
                                                .db = db.data(),
                                                .rectify_dx = rectify,
                                                .relu_bits = relu_bits});
      return dx.to_vector();
    };
    const auto zeros = [](const std::vector<float>& numbers) {
      std::vector<bool> are(numbers.size());
      std::transform(numbers.begin(), numbers.end(), are.begin(),
                     [](float number) { return number == 0; });
      return are;
    };
    const std::vector<float> rectified = input_gradient(true, nullptr),
                             by_bits = input_gradient(true, bits.data());
    CHECK(zeros(by_bits) == zeros(rectified));
    CHECK(zeros(by_bits) == zeros(y.to_vector()));
    CHECK(relative_error(by_bits, rectified) < tolerance);
    CHECK(zeros(input_gradient(false, bits.data())) != zeros(rectified));
    CHECK(input_gradient(false, bits.data()) == input_gradient(false, nullptr));
  }
}

#endif
