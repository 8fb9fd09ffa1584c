#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <cmath>
#include <doctest/doctest.h>
#include <type_traits>
#include <vector>

#include <gpunet/device/cuda/sum_each.cuh>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/tensor/tensor.hpp>

using namespace gpunet;

namespace {

// Whole numbers: the sum is exact in any order.
template <class T>
struct SumNumbers {
  T* sums;
  GPUNET_FN T operator()(index_t i, index_t r) const { return static_cast<T>(i + 3 * r % 7); }
  GPUNET_FN void store(index_t i, T sum) const { sums[i] = sum; }
};

struct SumSines {
  float* sums;
  GPUNET_FN float operator()(index_t i, index_t r) const { return sinf(static_cast<float>(i + r)); }
  GPUNET_FN void store(index_t i, float sum) const { sums[i] = sum; }
};

template <class F, class T, class D>
std::vector<T> sums(D& device, index_t n, index_t length) {
  Tensor<T, D> result(device, {n});
  sum_each(device, n, length, F{result.data()});
  return result.to_vector();
}

}  // namespace

TEST_CASE_TEMPLATE("sum_each on Cuda is exact where numbers are", T, int, index_t, float, double) {
  Cuda cuda;
  Host host(HostOptions{.threads = 1});
  for (index_t length : {0, 1, 3, 4, 5, 16, 31, 32, 33, 255, 256, 257, 1500, 5000})
    for (index_t n : {1, 2, 10, 300}) {
      if (n * length > 100000) continue;
      CAPTURE(length);
      CAPTURE(n);
      CHECK(sums<SumNumbers<T>, T>(cuda, n, length) == sums<SumNumbers<T>, T>(host, n, length));
    }
}

TEST_CASE("sum_each on Cuda makes more sums than fit on the device at once") {
  Cuda cuda;
  Host host(HostOptions{.threads = 1});
  // 8 lanes.
  const index_t n = index_t{32} * cuda.multiprocessors() * detail::threads_per_block / 8 + 5;
  CHECK(sums<SumNumbers<int>, int>(cuda, n, 29) == sums<SumNumbers<int>, int>(host, n, 29));
}

TEST_CASE("sum_each on Cuda gives the same bits in every run, close to Host's") {
  Cuda cuda;
  Host host(HostOptions{.threads = 1});
  const std::vector<float> once = sums<SumSines, float>(cuda, 9, 3000);
  CHECK(once == sums<SumSines, float>(cuda, 9, 3000));
  const std::vector<float> expected = sums<SumSines, float>(host, 9, 3000);
  for (std::size_t i = 0; i < once.size(); ++i)
    CHECK(once[i] == doctest::Approx(expected[i]).epsilon(1e-4));
}

TEST_CASE("no sums on Cuda") {
  Cuda device;
  CHECK_NOTHROW(sum_each(device, 0, 5, SumSines{nullptr}));
}

#endif
