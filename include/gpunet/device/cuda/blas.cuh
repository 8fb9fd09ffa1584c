// The matrix libraries of a stream.
#pragma once

#include <cstdint>
#include <cublasLt.h>
#include <utility>
#include <vector>

#include <gpunet/device/cuda/handle.cuh>

namespace gpunet::detail {

// The algorithms that cuBLASLt has chosen, by what they were chosen for.
class LtChoices {
 public:
  struct Key {
    index_t m, n, k;
    int ta, tb, epilogue, overwrites;
    std::uint32_t alignment, bits_alignment;
    friend bool operator==(const Key&, const Key&) = default;
  };

  const cublasLtMatmulAlgo_t* find(const Key& key) const {
    for (const auto& [known, algorithm] : choices_)
      if (known == key) return &algorithm;
    return nullptr;
  }
  cublasLtMatmulAlgo_t add(const Key& key, const cublasLtMatmulAlgo_t& algorithm) {
    choices_.emplace_back(key, algorithm);
    return algorithm;
  }

 private:
  std::vector<std::pair<Key, cublasLtMatmulAlgo_t>> choices_;
};

// cuBLAS and cuBLASLt on one stream, in a workspace given to them, so that they never allocate.
class Blas {
 public:
  // As many bytes as cuBLAS wants for its best kernels, by compute capability.
  static std::size_t workspace_bytes(int ordinal) {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal));
    return std::size_t{major >= 9 ? 32u : 4u} << 20;
  }

  explicit Blas(cudaStream_t stream) {
    cublasHandle_t handle;
    check(cublasCreate(&handle));
    handle_.reset(handle);
    cublasLtHandle_t lt;
    check(cublasLtCreate(&lt));
    lt_.reset(lt);
    check(cublasSetStream(handle, stream));  // before the workspace: it takes the handle back to one of its own
  }

  void use_workspace(void* workspace, std::size_t bytes) {
    workspace_ = workspace;
    bytes_ = bytes;
    check(cublasSetWorkspace(handle(), workspace, bytes));
  }

  cublasHandle_t handle() const { return handle_.get(); }
  cublasLtHandle_t lt() const { return lt_.get(); }
  LtChoices& choices() { return choices_; }
  void* workspace() const { return workspace_; }
  std::size_t bytes() const { return bytes_; }

 private:
  BlasHandle handle_;
  LtHandle lt_;
  LtChoices choices_;
  void* workspace_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace gpunet::detail
