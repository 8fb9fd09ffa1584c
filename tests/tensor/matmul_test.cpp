#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/create.hpp>
#include <gpunet/tensor/matmul.hpp>

#include "support/errors.hpp"
#include "support/tensor_cases.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("products of matrices are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  // Sums of these products have no rounding errors.
  const auto of = [&]<class T>(T) {
    ExpectedResults<T> expected("matmul");
    const auto a = all_views<T>(device, 0, exact_values<T>, "product_shapes"),
               b = all_views<T>(device, 1, exact_values<T>, "product_shapes");
    for (std::size_t i = 0; i < a.size(); ++i)
      expected.next(matmul(a[i].view, b[i].view));
  };
  of(float{});
  of(double{});
}

TEST_CASE_TEMPLATE("products of expressions and temporaries", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x(device, {2, 2}, {1, 2, 3, 4});
  CHECK(matmul(x + 1, 2 * x).to_vector() == std::vector<float>{22, 32, 38, 56});
  CHECK(matmul(x, x.clone()).to_vector() == std::vector<float>{7, 10, 15, 22});
  CHECK(matmul(t(x), t(x + 0)).to_vector() == std::vector<float>{7, 15, 10, 22});
  CHECK(matmul(x[0], x[1]).item() == 11);
  CHECK(matmul(eye(device, 2), x).to_vector() == x.to_vector());
  CHECK(matmul(flip(x, {0}), x).to_vector() == std::vector<float>{15, 22, 7, 10});
  CHECK(matmul(expand(x[0], {3, 2}), x).to_vector() == std::vector<float>{7, 10, 7, 10, 7, 10});
}

TEST_CASE("large products are plain ones, by any number of threads") {
  for (const auto& sizes :
       {std::array<index_t, 3>{65, 130, 70}, {8, 64, 200}, {1, 300, 50}, {129, 1, 63}}) {
    const index_t m = sizes[0], n = sizes[1], k = sizes[2];
    CAPTURE(m);
    std::vector<double> left = exact_values<double>(m * k, 0),
                        right = exact_values<double>(k * n, 1), expected;
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        double sum = 0;
        for (index_t p = 0; p < k; ++p)
          sum += left[static_cast<std::size_t>(i * k + p)] *
                 right[static_cast<std::size_t>(p * n + j)];
        expected.push_back(sum);
      }
    for (const int threads : {1, 3}) {
      Host host({.threads = threads});
      const Tensor<double, Host> a(host, {m, k}, left), b(host, {k, n}, right);
      const Tensor<double, Host> a_turned = t(a), b_turned = t(b);
      CHECK(matmul(a, b).to_vector() == expected);
      CHECK(matmul(t(a_turned), b).to_vector() == expected);
      CHECK(matmul(a, t(b_turned)).to_vector() == expected);
      CHECK(matmul(t(a_turned), t(b_turned)).to_vector() == expected);
      const Tensor of_floats = matmul(cast<float>(a), cast<float>(b));
      CHECK(Tensor(cast<double>(of_floats)).to_vector() == expected);
    }
  }
}

TEST_CASE_TEMPLATE("shapes that cannot be multiplied are refused", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x(device, {2, 3}), number(device, {}), batch(device, {4, 2, 3}),
      other(device, {5, 3, 2});
  CHECK(error_of([&] { matmul(x, x); }) ==
        "gpunet::matmul: the shapes [2, 3] and [2, 3] cannot be multiplied (rows of 3 elements "
        "meet columns of 2), "
        "transpose or reshape one of "
        "them");
  CHECK(error_of([&] { matmul(x, number); }) ==
        "gpunet::matmul: the shapes [2, 3] and [] (want one dimension or more), multiply numbers "
        "with *");
  CHECK(error_of([&] { matmul(number, x); }) != "");
  CHECK(error_of([&] { matmul(batch, other); }) ==
        "gpunet::matmul: the batches of the shapes [4, 2, 3] and [5, 3, 2] do not broadcast (want "
        "the same extents "
        "or 1, aligned before the "
        "last two), reshape one of them");
  CHECK(error_of([&] { matmul(x[0], x); }) != "");
  CHECK(error_of([&] { matmul(x, x[0][0]); }) != "");
}

TEST_CASE_TEMPLATE("products of vectors and of batches are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto vector = [&](index_t n, int operand) {
    return Tensor<float, D>(device, {n}, exact_values<float>(n, operand));
  };
  ExpectedResults<float> outer_products("outer"), dot_products("dot");
  for (const index_t m : {0, 1, 3, 7})
    for (const index_t n : {0, 1, 5}) {
      outer_products.next(outer(vector(m, 0), vector(n, 1)));
      const Tensor a = vector(2 * m, 0), b = vector(m, 1);
      const Tensor same = vector(m, 0);
      CHECK(dot(slice(a, 0, {.step = 2}), b).item() == sum(slice(a, 0, {.step = 2}) * b).item());
      dot_products.next(dot(same, b));
    }
  const Tensor<float, D> x(device, {2, 2, 1}, {1, 2, 3, 4}), y(device, {2, 1, 2}, {5, 6, 7, 8});
  CHECK(bmm(x, y).to_vector() == std::vector<float>{5, 6, 10, 12, 21, 24, 28, 32});
  CHECK(bmm(transpose(y, 1, 2), 2 * y).sizes() == Sizes{2, 2, 2});
}

TEST_CASE_TEMPLATE("vectors and batches that cannot be multiplied are refused", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<float, D> x(device, {2, 3}), v(device, {3}), w(device, {2}),
      batch(device, {4, 2, 3}), other(device, {5, 3, 2});
  CHECK(error_of([&] { dot(v, w); }) ==
        "gpunet::dot: shapes [3] and [2] (want two vectors of one length), write sum(a * b) for "
        "others");
  CHECK(error_of([&] { dot(x, x); }) ==
        "gpunet::dot: shapes [2, 3] and [2, 3] (want two vectors of one length), write sum(a * b) "
        "for others");
  CHECK(error_of([&] { Tensor y = outer(x, v); }) ==
        "gpunet::outer: shapes [2, 3] and [3] (want two vectors), flatten them");
  const std::string want = " (want [batch, m, k] and [batch, k, n]), write matmul(a, b) for others";
  CHECK(error_of([&] { bmm(x, x); }) == "gpunet::bmm: shapes [2, 3] and [2, 3]" + want);
  CHECK(error_of([&] { bmm(batch, other); }) ==
        "gpunet::bmm: shapes [4, 2, 3] and [5, 3, 2]" + want);
  CHECK(error_of([&] { bmm(batch, batch); }) != "");
}
