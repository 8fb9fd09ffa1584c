// The matrix library of a stream.
#pragma once

#include <gpunet/device/cuda/handle.cuh>

namespace gpunet::detail {

// A cuBLAS handle that works on one stream in a workspace given to it, and so never allocates.
class Blas {
 public:
  // As many bytes as cuBLAS wants for its best kernels, by compute capability.
  static std::size_t workspace_bytes(int ordinal) {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal));
    return std::size_t{major >= 9 ? 32u : 4u} << 20;
  }

  Blas(cudaStream_t stream, void* workspace, std::size_t bytes) : workspace_(workspace), bytes_(bytes) {
    cublasHandle_t handle;
    check(cublasCreate(&handle));
    handle_.reset(handle);
    check(cublasSetStream(handle, stream));  // first: it takes the handle back to a workspace of its own
    check(cublasSetWorkspace(handle, workspace, bytes));
  }

  cublasHandle_t handle() const { return handle_.get(); }
  void* workspace() const { return workspace_; }
  std::size_t bytes() const { return bytes_; }

 private:
  BlasHandle handle_;
  void* workspace_;
  std::size_t bytes_;
};

}  // namespace gpunet::detail
