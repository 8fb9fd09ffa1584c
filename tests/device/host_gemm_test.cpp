#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>

#include <gpunet/device/host/gemm/blocks.hpp>
#include <gpunet/device/host/gemm/gemm.hpp>
#include <gpunet/tensor/guarded_buffer.hpp>

#include "support/arrays.hpp"
#include "support/isas.hpp"
#include "support/sanitizers.hpp"

using namespace gpunet;

namespace {

using Values = std::vector<float>;

GuardedBuffer<float, Host> guarded(Host& host, const Values& values) {
  GuardedBuffer<float, Host> buffer(host, static_cast<index_t>(values.size()));
  buffer.upload(values);
  return buffer;
}

// A matrix product: sizes, operands, and what has to come out.
struct Case {
  Transpose ta, tb;
  index_t m, n, k;
  float beta;
  Values a, b, c, expected, error;  // how far each element may be off

  Case(Generator& generator, Transpose ta_, Transpose tb_, index_t m_, index_t n_, index_t k_,
       float beta_)
      : ta(ta_), tb(tb_), m(m_), n(n_), k(k_), beta(beta_) {
    a = random_values<float>(m * k, generator);
    b = random_values<float>(k * n, generator);
    c = beta == 0 ? Values(static_cast<std::size_t>(m * n), std::nanf(""))
                  : random_values<float>(m * n, generator);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        const double old = beta == 0 ? 0 : double{beta} * c.data()[i * n + j];
        double sum = old, size = std::abs(old);
        for (index_t p = 0; p < k; ++p) {
          const double product = double{a.data()[ta == Transpose::yes ? p * m + i : i * k + p]} *
                                 b.data()[tb == Transpose::yes ? j * k + p : p * n + j];
          sum += product;
          size += std::abs(product);
        }
        expected.push_back(static_cast<float>(sum));
        // k + 2 roundings, each of half a unit in the last place of a sum that is not over `size`
        error.push_back(static_cast<float>(static_cast<double>(k + 2) * size * 0x1p-24));
      }
  }

  Values run(Host& host) const {
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    const auto left = guarded(host, a), right = guarded(host, b);
    auto result = guarded(host, c);
    gemm(host, ta, tb, m, n, k, left.data(), right.data(), beta, result.data());
    return result.download();
  }

  void check(const Values& values) const {
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    CAPTURE(static_cast<int>(ta));
    CAPTURE(static_cast<int>(tb));
    bool good = values.size() == expected.size();
    for (std::size_t i = 0; good && i < values.size(); ++i)
      good = std::abs(values[i] - expected[i]) <= error[i];
    CHECK(good);
  }
};

constexpr Transpose both[] = {Transpose::no, Transpose::yes};

}  // namespace

TEST_CASE("the matrix product on Host, on every vector path") {
  const KeepIsa keep;
  Host host({.threads = 1});
  Generator generator(1);
  const auto pick = [&](index_t most) {
    return 1 + generator.random() % most;
  };
  for (Transpose ta : both)
    for (Transpose tb : both)
      for (float beta : {0.0f, 1.0f, -0.5f})
        for (int i = 0; i < (under_sanitizers ? 3 : 12); ++i) {
          const index_t most = i < 6 ? 40 : 130;
          const Case product(generator, ta, tb, pick(most), pick(most), i == 0 ? 600 : pick(most),
                             beta);
          for (Isa path : isas()) {
            set_isa(path);
            product.check(product.run(host));
          }
        }
}

TEST_CASE("matrix products of size 0, 1 and beyond a block") {
  Host host({.threads = 2});
  Generator generator(2);
  for (Transpose ta : both)
    for (Transpose tb : both) {
      for (float beta : {0.0f, 0.5f})
        for (const auto& [m, n, k] :
             {std::array<index_t, 3>{0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {1, 1, 1}, {1, 200, 1}}) {
          const Case product(generator, ta, tb, m, n, k, beta);
          product.check(product.run(host));
        }
      const Case large(generator, ta, tb, 250, 1090, 530, 1);
      large.check(large.run(host));
    }
}

TEST_CASE("a matrix product has the same bits for any number of threads") {
  Generator generator(3);
  Host one({.threads = 1}), two({.threads = 2}), three({.threads = 3});
  for (Transpose ta : both)
    for (Transpose tb : both)
      for (const auto& [m, n, k] :
           {std::array<index_t, 3>{250, 70, 300}, {13, 333, 270}, {150, 130, 40}, {300, 40, 300}}) {
        const Case product(generator, ta, tb, m, n, k, 0.25f);
        const Values values = product.run(one);
        product.check(values);
        CHECK(product.run(two) == values);
        CHECK(product.run(three) == values);
      }
}

TEST_CASE("matrices in groups of 16 columns, a bias for each row, bounds") {
  const KeepIsa keep;
  Host host({.threads = 2});
  Generator generator(4);
  for (const auto& [m, n, k] :
       {std::array<index_t, 3>{30, 48, 300}, {12, 16, 20}, {100, 160, 33}, {10, 96, 5}}) {
    const Case product(generator, Transpose::no, Transpose::no, m, n, k, 0);
    const Values bias = random_values<float>(m, generator);
    const auto grouped = [n = n](index_t rows, const Values& values) {
      Values groups(values.size());
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < n; ++j)
          groups.data()[j / 16 * rows * 16 + i * 16 + j % 16] = values.data()[i * n + j];
      return groups;
    };
    const Values expected = grouped(m, product.expected), error = grouped(m, product.error);
    const auto a = guarded(host, product.a), b = guarded(host, grouped(k, product.b)),
               biases = guarded(host, bias);
    for (Isa path : isas()) {
      set_isa(path);
      GuardedBuffer<float, Host> c(host, m * n);
      detail::multiply(host, {m,
                              n,
                              k,
                              Transpose::no,
                              Transpose::no,
                              {a.data(), k},
                              {b.data(), 16, 16 * k},
                              {c.data(), 16, 16 * m},
                              0,
                              biases.data(),
                              {.low = -0.25f, .high = 0.75f}});
      const Values values = c.download();
      bool good = true;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float b_i = bias[i / 16 % static_cast<std::size_t>(m)];
        const float wanted = std::clamp(expected[i] + b_i, -0.25f, 0.75f);
        good = good && std::abs(values[i] - wanted) <= error[i] + 0x1p-22f;
      }
      CHECK(good);
    }
  }
}

TEST_CASE("an A that is read in place is cut into whole tiles, which need no buffer") {
  const auto no = Transpose::no, yes = Transpose::yes;
  float c = 0;
  for (Transpose ta : both)
    for (index_t threads : {1, 2, 3}) {
      const detail::Product product{
          512, 64, 784, ta, no, {&c, 784}, {&c, 16, 16 * 784}, {&c, 16, 16 * 512}};
      const detail::GemmPlan plan(product, threads);
      REQUIRE(plan.a_in_place());
      CHECK(plan.rows() % detail::gemm_kernels().low == 0);
    }
  CHECK(!detail::GemmPlan({512, 784, 64, no, yes, {&c, 64}, {&c, 64}, {&c, 784}}, 1).a_in_place());
}

TEST_CASE("products inside the tasks of a device, and of two threads at once") {
  Host host({.threads = 3});
  Generator generator(5);
  const Case product(generator, Transpose::no, Transpose::yes, 70, 90, 50, 0);
  const Values expected = product.run(host);
  std::vector<Values> results(8, Values(expected.size()));
  host.run(8, [&](index_t i, int) {
    gemm(host, product.ta, product.tb, product.m, product.n, product.k, product.a.data(),
         product.b.data(), 0.0f, results[static_cast<std::size_t>(i)].data());
  });
  for (const Values& result : results)
    CHECK(result == expected);
}

TEST_CASE("sizes that make no sense") {
  Host host({.threads = 1});
  float x = 1, y = 1, z = 1;
  CHECK_THROWS_WITH_AS(gemm(host, Transpose::no, Transpose::no, -1, 1, 1, &x, &y, 0.0f, &z),
                       "gpunet::gemm: m, n, k are -1, 1, 1 (want 0 or more)", Error);
  CHECK(z == 1);
}
