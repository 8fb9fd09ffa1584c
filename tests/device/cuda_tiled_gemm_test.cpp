#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <vector>

#include <gpunet/device/cuda/gemm/tiled_gemm.cuh>
#include <gpunet/tensor/guarded_buffer.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/tensor_rounding.hpp"

using namespace gpunet;
using namespace gpunet::detail;

namespace {

// An operand that lies in memory: element (i, k) at i * across + k * down.
template <class T, bool rows>
struct Matrix {
  static constexpr bool along_k = rows;
  const T* data;
  index_t outer_stride, inner_stride;
  __device__ index_t outer(index_t i) const { return i * outer_stride; }
  __device__ index_t inner(index_t k) const { return k * inner_stride; }
  __device__ T load(index_t i, index_t k) const { return data[i + k]; }
};

template <class T_>
struct StoreMatrix {
  using T = T_;
  T* c;
  index_t n;
  __device__ index_t column(index_t j) const { return j; }
  __device__ void store(index_t i, index_t j, const T* values, int count) const {
    for (int q = 0; q < count; ++q)
      c[i * n + j + q] = values[q];
  }
};

template <class T>
using TestProduct = TiledProduct<Matrix<T, true>, Matrix<T, false>, StoreMatrix<T>>;

// A product in memory of a device, and what it should be.
template <class T>
struct Case {
  Cuda& device;
  ProductSizes size;
  GuardedBuffer<T, Cuda> a, b, c;
  std::vector<double> expected;

  Case(Cuda& d, const ProductSizes& s, Precision precision, Generator& random)
      : device(d), size(s), a(d, s.m * s.k), b(d, s.k * s.n), c(d, s.m * s.n) {
    const std::vector<T> left = random_values<T>(s.m * s.k, random),
                         right = random_values<T>(s.k * s.n, random);
    a.upload(left);
    b.upload(right);
    const auto factor = [&](T value) {
      if constexpr (std::is_same_v<T, float>)
        return static_cast<double>(tensor_rounded(value, precision));
      else
        return value;
    };
    for (index_t i = 0; i < s.m; ++i)
      for (index_t j = 0; j < s.n; ++j) {
        double sum = 0;
        for (index_t l = 0; l < s.k; ++l)
          sum += factor(left.data()[i * s.k + l]) * factor(right.data()[l * s.n + j]);
        expected.push_back(sum);
      }
  }
  TestProduct<T> product() const {
    return {
        size.m, size.n, size.k, {a.data(), size.k, 1}, {b.data(), 1, size.n}, {c.data(), size.n}};
  }
};

template <class T>
void check_product(Cuda& device, const ProductSizes& size, const ProductPlan& plan,
                   Generator& random) {
  CAPTURE(size.m);
  CAPTURE(size.n);
  CAPTURE(size.k);
  CAPTURE(plan.math);
  CAPTURE(static_cast<int>(plan.precision));
  Case<T> data(device, size, plan.precision, random);
  GuardedBuffer<T, Cuda> scratch(device, product_scratch<T>(device, std::array{size}, plan));
  product(device, data.product(), scratch.data(), plan);
  const std::vector<T> once = data.c.download();
  const double tolerance = sizeof(T) == 8                       ? 1e-13
                           : plan.precision == Precision::exact ? 1e-6
                                                                : tensor_core_tolerance(size.k);
  CHECK(relative_error(once, data.expected) < tolerance);
  scratch.fill_with_nan();
  data.c.fill_with_nan();
  product(device, data.product(), scratch.data(), plan);
  CHECK(data.c.download() == once);
}

constexpr ProductSizes shapes[] = {{1, 1, 1},     {1, 5, 3},    {6, 36, 75},  {9, 130, 17},
                                   {16, 30, 40},  {17, 64, 16}, {65, 66, 33}, {33, 10, 300},
                                   {130, 131, 9}, {3, 4, 1500}};

}  // namespace

TEST_CASE("matrix products of Cuda in every tile") {
  Cuda& device = test_device<Cuda>();
  Generator random(1);
  for (const ProductSizes& size : shapes) {
    for (std::size_t math = 0; math < ExactMaths<float>::type::size; ++math)
      check_product<float>(device, size, {Precision::exact, math}, random);
    for (std::size_t math = 0; math < ExactMaths<double>::type::size; ++math)
      check_product<double>(device, size, {Precision::exact, math}, random);
  }
}

TEST_CASE("matrix products by tensor cores of Cuda are those of rounded factors") {
  Cuda& device = test_device<Cuda>();
  if (device.architecture() < tensor_architecture) {
    MESSAGE("skipped: the code was compiled for an architecture without these tensor cores");
    return;
  }
  Generator random(2);
  for (const ProductSizes& size : shapes) {
    check_product<float>(device, size, {Precision::tf32, 0}, random);
    check_product<float>(device, size, {Precision::bf16, 0}, random);
  }
}

TEST_CASE("long sums on Cuda are parted, and two products share a launch") {
  Cuda& device = test_device<Cuda>();
  Generator random(3);
  const std::array<ProductSizes, 2> sizes{ProductSizes{7, 20, 1000}, ProductSizes{18, 70, 260}};
  for (std::size_t math = 0; math < ExactMaths<float>::type::size; ++math) {
    CAPTURE(math);
    const ProductPlan plan{Precision::exact, math};
    CHECK(product_scratch<float>(device, sizes, plan) > 0);
    GuardedBuffer<float, Cuda> scratch(device, product_scratch<float>(device, sizes, plan));
    Case<float> first(device, sizes[0], plan.precision, random),
        second(device, sizes[1], plan.precision, random);
    for (bool with_second : {true, false}) {
      TestProduct<float> other = second.product();
      if (!with_second) other.m = 0;
      products(device, first.product(), other, scratch.data(), plan);
      CHECK(relative_error(first.c.download(), first.expected) < 1e-6);
      first.c.fill_with_nan();
    }
    CHECK(relative_error(second.c.download(), second.expected) < 1e-6);
    scratch.download();
  }
}

TEST_CASE(
    "a matrix product of Cuda without products stores zeros, one without results does nothing") {
  Cuda& device = test_device<Cuda>();
  Generator random(4);
  check_product<float>(device, {3, 5, 0}, {}, random);
  check_product<float>(device, {0, 5, 3}, {}, random);
  check_product<float>(device, {3, 0, 3}, {}, random);
}

TEST_CASE("tiles of Cuda are chosen by how much work there is") {
  const auto chosen = [](const ProductSizes& size) {
    return fastest<ExactMaths<float>>(std::array{size}, 132);
  };
  CHECK(chosen({512, 100000, 4608}) == 0);
  CHECK(chosen({64, 1 << 20, 576}) == 1);
  CHECK(chosen({16, 100 << 12, 150}) == 2);
  CHECK(chosen({6, 784 << 12, 75}) == 3);
  CHECK(chosen({6, 784 * 4, 75}) == 2);  // little work: more blocks
  CHECK(chosen({64, 400, 576}) == 2);
}

namespace {

// How much slower, as estimated, the products are where some tiles are left out.
template <Known known, std::size_t count>
double slower(const std::array<ProductSizes, count>& products) {
  const auto time = [&]<class Kind>(std::type_identity<Kind>) {
    return estimated_time<Kind>(products, 132, fastest<Kind>(products, 132));
  };
  return time(std::type_identity<ExactMaths<float, known>>{}) /
         time(std::type_identity<ExactMaths<float>>{});
}

}  // namespace

// But for sums of up to 8 products, which memory bounds: the large tile takes 8 at a time, the
// others 16.
TEST_CASE("tiles of Cuda that are left out for what is known would not be chosen") {
  const std::array<index_t, 7> channels{1, 3, 6, 12, 16, 24, 32};
  for (index_t batch : {1, 4, 64, 1024})
    for (index_t in : channels)
      for (index_t out : channels)
        for (index_t pixels : {36, 784, 4096})
          for (index_t kernel : {1, 3, 5}) {
            const index_t positions = batch * pixels, taps = kernel * kernel;
            const ProductSizes forward{out, positions, in * taps},
                parameters{out, in * taps + 1, positions}, input{in, positions, out * taps};
            if (forward.k > 8) CHECK(slower<Known::few_rows>(std::array{forward}) == 1);
            CHECK(slower<Known::few_rows>(std::array{parameters, input}) == 1);
          }
  for (index_t samples : {1, 4, 64, 100, 1024, 4096})
    for (index_t in : {4, 100, 256, 1000, 4096, 20000})
      for (index_t out : {1, 10, 84, 256, 1000, 4096, 20000}) {
        if (samples * in * out >= 1 << 24) continue;
        const ProductSizes forward{samples, out, in}, parameters{out, in + 1, samples},
            input{samples, in, out};
        if (forward.k > 8) CHECK(slower<Known::little_work>(std::array{forward}) == 1);
        CHECK(slower<Known::little_work>(std::array{parameters, input}) == 1);
      }
}

#endif
