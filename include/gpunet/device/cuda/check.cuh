// Failed CUDA and cuBLAS calls as gpunet::Error.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <source_location>

#include <gpunet/core/error.hpp>

namespace gpunet {

namespace detail {

// " in void f(), file.cuh:12"
inline std::string place(const std::source_location& where) {
  return concat(" in ", where.function_name(), ", ", where.file_name(), ":", where.line());
}

}  // namespace detail

// Throws Error unless the call went well; to be put around every CUDA call and after every launch.
inline void check(cudaError_t status, std::source_location where = std::source_location::current()) {
  if (status == cudaSuccess) [[likely]]
    return;
  static_cast<void>(cudaGetLastError());  // forgets it: else the next launch would report it again
  throw Error(concat(
      "gpunet: CUDA error: ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")", detail::place(where),
      "; what a kernel did wrong can show at a later call, set CUDA_LAUNCH_BLOCKING=1 to see where"));
}

inline void check(cublasStatus_t status, std::source_location where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return;
  throw Error(concat("gpunet: cuBLAS error: ", cublasGetStatusString(status), " (", cublasGetStatusName(status),
                     ")", detail::place(where)));
}

// Throws Error when an allocation of `bytes` on device `ordinal` failed, with what the device has.
inline void check_allocation(cudaError_t status, std::size_t bytes, int ordinal,
                             std::source_location where = std::source_location::current()) {
  if (status != cudaErrorMemoryAllocation) return check(status, where);
  static_cast<void>(cudaGetLastError());
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), where);
  throw Error(concat("gpunet::Cuda: CUDA out of memory: tried to allocate ", bytes, " bytes on cuda:", ordinal,
                     " (", free, " bytes free of ", total, "), use a smaller batch or network"));
}

// For destructors, which must not throw: what failed there shows at the next call that is checked, or no longer
// matters.
inline void ignore_error(cudaError_t status) noexcept {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}
inline void ignore_error(cublasStatus_t) noexcept {}

}  // namespace gpunet
