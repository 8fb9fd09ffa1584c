// The matrix libraries of a stream.
#pragma once

#include <cstdint>
#include <cublasLt.h>
#include <optional>
#include <utility>
#include <vector>

#include <gpunet/device/cuda/handle.cuh>

namespace gpunet::detail {

// An algorithm of cuBLASLt for one product. The library's own type has no name, and nvcc fails at a
// container of it.
struct LtAlgorithm {
  cublasLtMatmulAlgo_t value;
};

// How cuBLASLt does the products that it was asked for, by their shapes. Nothing is ever removed or
// changed.
class LtChoices {
 public:
  struct Key {
    index_t m, n, k;
    int ta, tb, epilogue, overwrites;
    std::uint32_t alignment, epilogue_alignment;  // of the matrices; of bias and bits
    friend bool operator==(const Key&, const Key&) = default;
  };
  using Choice = std::optional<LtAlgorithm>;  // empty: refused

  // Null before the first call.
  const Choice* find(const Key& key) const {
    for (const auto& [known, choice] : choices_)
      if (known == key) return &choice;
    return nullptr;
  }
  void add(const Key& key, const Choice& choice) { choices_.emplace_back(key, choice); }

  // Returns whether a product of this shape with this epilogue was refused, for any alignment.
  bool has_refused(index_t m, index_t n, index_t k, int epilogue) const {
    for (const auto& [key, choice] : choices_)
      if (!choice && key.m == m && key.n == n && key.k == k && key.epilogue == epilogue)
        return true;
    return false;
  }

 private:
  std::vector<std::pair<Key, Choice>> choices_;
};

// cuBLAS and cuBLASLt on one stream, in a workspace given to them, so that they never allocate.
class Blas {
 public:
  // The bytes that cuBLAS wants for its best kernels, by compute capability.
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
    // Before the workspace: it takes the handle back to one of its own.
    check(cublasSetStream(handle, stream));
  }

  void use_workspace(void* workspace, std::size_t bytes) {
    workspace_ = workspace;
    bytes_ = bytes;
    check(cublasSetWorkspace(handle(), workspace, bytes));
  }

  cublasHandle_t handle() const { return handle_.get(); }
  cublasLtHandle_t lt() const { return lt_.get(); }
  LtChoices& choices() { return choices_; }
  const LtChoices& choices() const { return choices_; }
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
