// Makes cuBLASLt refuse products and offer more algorithms than it has. For one unit of a program:
// it defines functions of cuBLASLt and of the CUDA runtime.
#pragma once

#include <algorithm>
#include <cstring>
#include <cublasLt.h>
#include <dlfcn.h>
#include <vector>

#include <gpunet/device/cuda/blas.cuh>
#include <gpunet/gpunet.hpp>

namespace {

// How a product is refused: by the search for algorithms (with a status or an empty list), or by
// the call itself.
enum class Refusal { search_fails, search_is_empty, call_fails, call_is_invalid };

// An algorithm that the search offers, in the order of the list. It is the real first one; its
// results may differ in a bit.
struct OfferedAlgorithm {
  float milliseconds;
  bool other_bits = false, refused = false;
};

// Controls cuBLASLt in this program while this object exists; one at a time.
struct ControlledLt {
  std::vector<cublasLtEpilogue_t> refused;  // products with these epilogues
  Refusal how = Refusal::search_fails;
  std::vector<OfferedAlgorithm> offered;

  int searches = 0;
  bool refuses_unasked = false;              // refuses where the library itself has no kernel
  std::vector<cublasLtEpilogue_t> products;  // epilogues of the products that were launched
  std::vector<std::size_t> algorithms;       // their algorithms, as indices into `offered`

  struct Marked {  // the algorithm that was offered, and the real one
    gpunet::detail::LtAlgorithm offered, real;
    std::size_t number;
  };
  std::vector<Marked> marked{};

  inline static ControlledLt* current = nullptr;
  ControlledLt() { current = this; }
  ~ControlledLt() { current = nullptr; }
  ControlledLt(const ControlledLt&) = delete;
  ControlledLt& operator=(const ControlledLt&) = delete;

  bool refuses(cublasLtEpilogue_t epilogue) const {
    return std::find(refused.begin(), refused.end(), epilogue) != refused.end();
  }
};

cublasLtEpilogue_t epilogue_of(cublasLtMatmulDesc_t descriptor) {
  cublasLtEpilogue_t epilogue{};
  gpunet::check(cublasLtMatmulDescGetAttribute(descriptor, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                               sizeof epilogue, nullptr));
  return epilogue;
}

// Changes the last bit of the first number of a result.
struct FlipLastBit {
  std::uint32_t* word;
  GPUNET_FN void operator()(gpunet::index_t) const { *word ^= 1; }
};

// Returns the real function of this name.
template <class F>
F* real_lt(const char* name, F*) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t descriptor, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int wanted, cublasLtMatmulHeuristicResult_t* results,
    int* found) {
  static const auto next =
      real_lt("cublasLtMatmulAlgoGetHeuristic", &cublasLtMatmulAlgoGetHeuristic);
  ControlledLt* control = ControlledLt::current;
  if (!control) return next(handle, descriptor, a, b, c, d, preference, wanted, results, found);
  ++control->searches;
  if (control->refuses(epilogue_of(descriptor))) {
    *found = 0;
    if (control->how == Refusal::search_fails) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (control->how == Refusal::search_is_empty) return CUBLAS_STATUS_SUCCESS;
  }
  const cublasStatus_t status =
      next(handle, descriptor, a, b, c, d, preference, wanted, results, found);
  const bool refuses = status != CUBLAS_STATUS_SUCCESS || *found == 0;
  control->refuses_unasked |= refuses;
  if (refuses || control->offered.empty()) return status;
  const cublasLtMatmulHeuristicResult_t real = results[0];
  *found = std::min(wanted, static_cast<int>(control->offered.size()));
  for (int i = 0; i < *found; ++i) {
    results[i] = real;
    results[i].algo.data[7] ^= std::uint64_t(i + 1) << 40;
    control->marked.push_back({{results[i].algo}, {real.algo}, static_cast<std::size_t>(i)});
  }
  return status;
}

extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t descriptor,
                                         const void* alpha, const void* A, cublasLtMatrixLayout_t a,
                                         const void* B, cublasLtMatrixLayout_t b, const void* beta,
                                         const void* C, cublasLtMatrixLayout_t c, void* D,
                                         cublasLtMatrixLayout_t d,
                                         const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                                         std::size_t bytes, cudaStream_t stream) {
  static const auto next = real_lt("cublasLtMatmul", &cublasLtMatmul);
  ControlledLt* control = ControlledLt::current;
  if (!control)
    return next(handle, descriptor, alpha, A, a, B, b, beta, C, c, D, d, algorithm, workspace,
                bytes, stream);
  const cublasLtEpilogue_t epilogue = epilogue_of(descriptor);
  if (control->refuses(epilogue))
    return control->how == Refusal::call_is_invalid ? CUBLAS_STATUS_INVALID_VALUE
                                                    : CUBLAS_STATUS_NOT_SUPPORTED;
  const auto found =
      std::find_if(control->marked.begin(), control->marked.end(), [&](const auto& each) {
        return std::memcmp(&each.offered.value, algorithm, sizeof *algorithm) == 0;
      });
  const bool is_marked = found != control->marked.end();
  if (is_marked) {
    if (control->offered[found->number].refused) return CUBLAS_STATUS_NOT_SUPPORTED;
    algorithm = &found->real.value;
    control->algorithms.push_back(found->number);
  }
  control->products.push_back(epilogue);
  const cublasStatus_t status = next(handle, descriptor, alpha, A, a, B, b, beta, C, c, D, d,
                                     algorithm, workspace, bytes, stream);
  if (status != CUBLAS_STATUS_SUCCESS) control->refuses_unasked = true;
  if (is_marked && control->offered[found->number].other_bits)
    gpunet::detail::for_each_kernel<<<1, 1, 0, stream>>>(
        1, FlipLastBit{static_cast<std::uint32_t*>(D)});
  return status;
}

// Returns the time of the algorithm that ran last, if algorithms are offered.
extern "C" cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  static const auto next = real_lt("cudaEventElapsedTime", &cudaEventElapsedTime);
  const ControlledLt* control = ControlledLt::current;
  if (!control || control->algorithms.empty()) return next(milliseconds, from, to);
  *milliseconds = control->offered[control->algorithms.back()].milliseconds;
  return cudaSuccess;
}
