// Failed CUDA, cuBLAS and cuBLASLt calls as gpunet::Error.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <mutex>
#include <source_location>

#include <gpunet/core/error.hpp>

namespace gpunet {

namespace detail {

// " in void f(), file.cuh:12"
inline std::string place(const std::source_location& where) {
  return concat(" in ", where.function_name(), ", ", where.file_name(), ":", where.line());
}

// Errors after which CUDA does no more work for this process: every later call reports them again.
inline bool is_final(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
      return true;
    default:
      return false;
  }
}

// The message of the first final error of this process; later ones are its consequences and say so.
class FirstFailure {
 public:
  // The message to throw for an error with this message.
  static std::string explain(cudaError_t status, std::string message) {
    static FirstFailure first;
    const std::lock_guard lock(first.mutex_);
    if (!first.message_.empty())
      return concat(
          "gpunet: CUDA stopped at an earlier error and does no more work in this process, end the "
          "program and mend this first: ",
          first.message_);
    if (is_final(status)) first.message_ = message;
    return message;
  }

 private:
  std::mutex mutex_;
  std::string message_;
};

// Throws Error for a call that failed; `what` names the work.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_cuda_error(cudaError_t status,
                                                                    std::string_view what) {
  static_cast<void>(cudaGetLastError());  // forgets it: else the next launch would report it again
  throw_error(Error(FirstFailure::explain(
      status,
      concat(
          "gpunet: CUDA error: ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")",
          what,
          is_final(status)
              ? "; a kernel given earlier may have caused it, set GPUNET_CUDA_CHECK=1 to see which"
              : ""))));
}

// The same for a call at this place. Out of line, as all that makes texts: it would be compiled
// into every call.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_error(cudaError_t status,
                                                               const std::source_location& where) {
  throw_cuda_error(status, place(where));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_error(cublasStatus_t status,
                                                               const std::source_location& where) {
  throw_error(Error(FirstFailure::explain(
      cudaPeekAtLastError(), concat("gpunet: cuBLAS error: ", cublasGetStatusString(status), " (",
                                    cublasGetStatusName(status), ")", place(where)))));
}

}  // namespace detail

// Throws Error unless the call went well; to be put around every CUDA call.
inline void check(cudaError_t status,
                  const std::source_location& where = std::source_location::current()) {
  if (status != cudaSuccess) [[unlikely]]
    detail::throw_error(status, where);
}
inline void check(cublasStatus_t status,
                  const std::source_location& where = std::source_location::current()) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    detail::throw_error(status, where);
}

// For destructors, which must not throw: an error there shows at the next call that is checked, or
// no longer matters.
inline void ignore_error(cudaError_t status) noexcept {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}
template <class Status>
void ignore_error(Status) noexcept {}  // of a library

}  // namespace gpunet
