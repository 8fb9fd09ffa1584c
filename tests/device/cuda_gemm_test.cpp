#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/device/cuda/gemm/gemm.cuh>
#include <gpunet/tensor/tensor.hpp>

using namespace gpunet;

namespace {

// Small whole numbers: products are exact in float too.
template <class T>
std::vector<T> numbers(index_t size, int seed) {
  std::vector<T> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>((static_cast<int>(i) * 7 + seed) % 11 - 5);
  return values;
}

template <class T>
std::vector<T> product(Transpose ta, Transpose tb, index_t m, index_t n, index_t k,
                       const std::vector<T>& a, const std::vector<T>& b, T beta, std::vector<T> c) {
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      T sum = 0;
      for (index_t p = 0; p < k; ++p)
        sum += a[static_cast<std::size_t>(ta == Transpose::yes ? p * m + i : i * k + p)] *
               b[static_cast<std::size_t>(tb == Transpose::yes ? j * k + p : p * n + j)];
      T& element = c[static_cast<std::size_t>(i * n + j)];
      element = sum + (beta == 0 ? T(0) : beta * element);
    }
  return c;
}

template <class T>
void compare(Cuda& device, Transpose ta, Transpose tb, index_t m, index_t n, index_t k, T beta) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  const std::vector<T> a = numbers<T>(m * k, 1), b = numbers<T>(k * n, 2);
  std::vector<T> c = numbers<T>(m * n, 3);
  if (beta == 0) c.assign(c.size(), std::numeric_limits<T>::quiet_NaN());
  const Tensor<T, Cuda> on_device_a(device, {m * k}, a), on_device_b(device, {k * n}, b);
  Tensor<T, Cuda> on_device_c(device, {m, n}, c);
  gemm(device, ta, tb, m, n, k, on_device_a.data(), on_device_b.data(), beta, on_device_c.data());
  CHECK(on_device_c.to_vector() == product(ta, tb, m, n, k, a, b, beta, c));
}

}  // namespace

TEST_CASE_TEMPLATE("the matrix product on Cuda", T, float, double) {
  Cuda device;
  for (Transpose ta : {Transpose::no, Transpose::yes})
    for (Transpose tb : {Transpose::no, Transpose::yes})
      for (T beta : {T(0), T(1), T(-0.5)}) {
        compare<T>(device, ta, tb, 1, 1, 1, beta);
        compare<T>(device, ta, tb, 3, 4, 5, beta);
        compare<T>(device, ta, tb, 17, 5, 33, beta);
        compare<T>(device, ta, tb, 1, 40, 7, beta);
        compare<T>(device, ta, tb, 40, 1, 7, beta);
        compare<T>(device, ta, tb, 4, 6, 0, beta);  // an empty sum
        compare<T>(device, ta, tb, 0, 6, 5, beta);
        compare<T>(device, ta, tb, 4, 0, 5, beta);
      }
}

TEST_CASE("cuBLAS of a Cuda device works on its stream and in a workspace of its own") {
  Cuda device;
  cudaStream_t stream = nullptr;
  check(cublasGetStream(device.blas().handle(), &stream));
  CHECK(stream == device.stream());
  CHECK(&device.blas() == &device.blas());
  cublasMath_t mode{};
  check(cublasGetMathMode(device.blas().handle(), &mode));
  CHECK(mode == CUBLAS_DEFAULT_MATH);
}

TEST_CASE("a matrix too large for cuBLAS is an error on Cuda") {
  Cuda device;
  const float* none = nullptr;
  CHECK_THROWS_AS(gemm(device, Transpose::no, Transpose::no, index_t{1} << 31, 1, 1, none, none,
                       0.0f, (float*)nullptr),
                  Error);
}

#endif
