#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <doctest/doctest.h>
#include <string>

#include <gpunet/device/cuda/check.cuh>

#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE("check lets a good Cuda call pass") {
  CHECK_NOTHROW(check(cudaSuccess));
  CHECK_NOTHROW(check(CUBLAS_STATUS_SUCCESS));
}

TEST_CASE("check says which Cuda call failed, how, and where") {
  const int line = __LINE__ + 1;
  const std::string error = error_of([] { check(cudaErrorInvalidValue); });
  CAPTURE(error);
  CHECK(contains(error, "CUDA error: invalid argument (cudaErrorInvalidValue)"));
  CHECK(contains(error, concat("cuda_check_test.cpp:", line)));
  CHECK(contains(error_of([] { check(CUBLAS_STATUS_INVALID_VALUE); }),
                 "(CUBLAS_STATUS_INVALID_VALUE)"));
}

TEST_CASE("after check and ignore_error Cuda has no error left over") {
  CHECK_THROWS_AS(check(cudaSetDevice(1 << 20)), Error);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  ignore_error(cudaSetDevice(1 << 20));
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  static_assert(
      noexcept(ignore_error(cudaSuccess))&& noexcept(ignore_error(CUBLAS_STATUS_SUCCESS)));
}

#endif
