// One matrix product of cuBLASLt: its description, the algorithms offered for it, and the call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/device/cuda/blas.cuh>
#include <gpunet/device/cuda/cuda.hpp>

namespace gpunet::detail {

using LtDescriptor = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using LtLayout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using LtPreference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

// D [m, n] = epilogue(op(A) [m, k] op(B) [k, n] + beta D); column-major, as cuBLAS wants it.
struct LtProduct {
  cublasOperation_t ta, tb;
  index_t m, n, k;
  const float *a, *b;
  float beta;
  float* d;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const float* bias = nullptr;  // [m], read; of CUBLASLT_EPILOGUE_BGRADB [n], written
  // [n, round_up(m, 128) / 8]: which elements of D a ReLU let through.
  const std::byte* bits = nullptr;

  index_t bias_size() const { return !bias ? 0 : epilogue == CUBLASLT_EPILOGUE_BGRADB ? n : m; }
  index_t bits_stride() const { return round_up(m, index_t{128}); }
  index_t bits_bytes() const { return bits ? bits_stride() / 8 * n : 0; }
};

// Returns whether cuBLASLt has no kernel for a call. Nothing was given to the device then. It
// reports some combinations of epilogue, sizes and alignment as invalid values.
inline bool is_refusal(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH ||
         status == CUBLAS_STATUS_INVALID_VALUE;
}

// The largest power of two up to 256 that all addresses are multiples of.
template <class... P>
std::uint32_t alignment_of(const P*... addresses) {
  const auto digits = (reinterpret_cast<std::uintptr_t>(addresses) | ... | std::uintptr_t{256});
  return static_cast<std::uint32_t>(digits & (~digits + 1));
}

// A product with the descriptors of its arguments. Making them is host work only and legal while a
// stream is recorded.
class LtCall {
 public:
  LtCall(const LtProduct& p, Precision precision)
      : p_(p),
        descriptor_(make_descriptor(p, precision)),
        a_(p.ta == CUBLAS_OP_N ? make_layout(p.m, p.k) : make_layout(p.k, p.m)),
        b_(p.tb == CUBLAS_OP_N ? make_layout(p.k, p.n) : make_layout(p.n, p.k)),
        d_(make_layout(p.m, p.n)) {}

  // Returns the algorithms that cuBLASLt offers, the fastest by its own estimate first; none where
  // it refuses.
  std::vector<LtAlgorithm> algorithms(Cuda& device) const {
    const LtPreference preference = make_preference(device);
    std::array<cublasLtMatmulHeuristicResult_t, 8> results{};
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        device.blas().lt(), descriptor_.get(), a_.get(), b_.get(), d_.get(), d_.get(),
        preference.get(), static_cast<int>(results.size()), results.data(), &found);
    std::vector<LtAlgorithm> algorithms;
    if (is_refusal(status)) return algorithms;
    check(status);
    for (int i = 0; i < found; ++i)
      if (results[i].state == CUBLAS_STATUS_SUCCESS) algorithms.push_back({results[i].algo});
    return algorithms;
  }

  // Gives the product to the device's stream.
  cublasStatus_t run(Cuda& device, const LtAlgorithm& algorithm) const {
    const Blas& blas = device.blas();
    const float one = 1;
    return cublasLtMatmul(blas.lt(), descriptor_.get(), &one, p_.a, a_.get(), p_.b, b_.get(),
                          &p_.beta, p_.d, d_.get(), p_.d, d_.get(), &algorithm.value,
                          blas.workspace(), blas.bytes(), device.stream());
  }

 private:
  static cublasComputeType_t compute_type(Precision precision) {
    return precision == Precision::tf32   ? CUBLAS_COMPUTE_32F_FAST_TF32
           : precision == Precision::bf16 ? CUBLAS_COMPUTE_32F_FAST_16BF
                                          : CUBLAS_COMPUTE_32F;
  }

  static LtDescriptor make_descriptor(const LtProduct& p, Precision precision) {
    cublasLtMatmulDesc_t made = nullptr;
    check(cublasLtMatmulDescCreate(&made, compute_type(precision), CUDA_R_32F));
    LtDescriptor owner(made);
    const auto set = [made](cublasLtMatmulDescAttributes_t what, const auto& value) {
      check(cublasLtMatmulDescSetAttribute(made, what, &value, sizeof value));
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.ta);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.tb);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.epilogue);
    if (p.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    if (p.bits) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.bits);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{p.bits_stride()});
    }
    return owner;
  }

  static LtLayout make_layout(index_t rows, index_t columns) {
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns),
                                     std::max(rows, index_t{1})));
    return LtLayout(made);
  }

  LtPreference make_preference(Cuda& device) const {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made));
    LtPreference owner(made);
    const auto set = [made](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
      check(cublasLtMatmulPreferenceSetAttribute(made, what, &value, sizeof value));
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{device.blas().bytes()});
    const std::uint32_t alignment = alignment_of(p_.a, p_.b, p_.d);
    if (alignment < 256)  // its default
      for (const auto what :
           {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
        set(what, alignment);
    return owner;
  }

  LtProduct p_;
  LtDescriptor descriptor_;
  LtLayout a_, b_, d_;
};

}  // namespace gpunet::detail
