// Matrix products of floats with a bias, a ReLU or a bias gradient done on the way: cuBLASLt.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <gpunet/core/math.hpp>
#include <gpunet/device/cuda/cuda.cuh>

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
  const float* bias = nullptr;      // read, or written by an epilogue that makes a bias gradient
  const std::byte* bits = nullptr;  // which of D a ReLU let through; columns begin at multiples of 128 bits
};

inline cublasComputeType_t lt_compute_type(Precision precision) {
  return precision == Precision::tf32   ? CUBLAS_COMPUTE_32F_FAST_TF32
         : precision == Precision::bf16 ? CUBLAS_COMPUTE_32F_FAST_16BF
                                        : CUBLAS_COMPUTE_32F;
}

inline LtDescriptor lt_descriptor(const LtProduct& p, Precision precision) {
  cublasLtMatmulDesc_t made = nullptr;
  check(cublasLtMatmulDescCreate(&made, lt_compute_type(precision), CUDA_R_32F));
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
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{round_up(p.m, index_t{128})});
  }
  return owner;
}

inline LtLayout lt_layout(index_t rows, index_t columns) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), std::max(rows, index_t{1})));
  return LtLayout(made);
}

// The largest power of two up to 256 that all addresses are multiples of.
template <class... P>
std::uint32_t alignment_of(const P*... addresses) {
  const auto digits = (reinterpret_cast<std::uintptr_t>(addresses) | ... | std::uintptr_t{256});
  return static_cast<std::uint32_t>(digits & (~digits + 1));
}

// How cuBLASLt does the products that it was asked for; choosing takes it longer than a small product.
inline cublasLtMatmulAlgo_t lt_algorithm(Cuda& device, const LtProduct& p, cublasLtMatmulDesc_t descriptor,
                                         cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                         cublasLtMatrixLayout_t d) {
  const std::uint32_t alignment = alignment_of(p.a, p.b, p.d), bits_alignment = alignment_of(p.bits);
  const LtChoices::Key key{p.m, p.n, p.k, p.ta, p.tb, p.epilogue, p.beta == 0, alignment, bits_alignment};
  LtChoices& choices = device.blas().choices();
  if (const cublasLtMatmulAlgo_t* known = choices.find(key)) return *known;

  cublasLtMatmulPreference_t made = nullptr;
  check(cublasLtMatmulPreferenceCreate(&made));
  const LtPreference preference(made);
  const auto set = [made](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
    check(cublasLtMatmulPreferenceSetAttribute(made, what, &value, sizeof value));
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{device.blas().bytes()});
  if (alignment < 256)  // which it takes for granted
    for (const auto what : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                            CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      set(what, alignment);
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  check(cublasLtMatmulAlgoGetHeuristic(device.blas().lt(), descriptor, a, b, d, d, made, 1, &result, &found));
  require(found > 0, "gpunet::Cuda: cuBLASLt has no way for a [", p.m, ", ", p.k, "] by [", p.k, ", ", p.n,
          "] product");
  return choices.add(key, result.algo);
}

inline void lt_product(Cuda& device, const LtProduct& p) {
  const CurrentDevice current(device.ordinal());
  const LtDescriptor descriptor = lt_descriptor(p, device.precision());
  const LtLayout a = p.ta == CUBLAS_OP_N ? lt_layout(p.m, p.k) : lt_layout(p.k, p.m),
                 b = p.tb == CUBLAS_OP_N ? lt_layout(p.k, p.n) : lt_layout(p.n, p.k), d = lt_layout(p.m, p.n);
  const cublasLtMatmulAlgo_t algorithm = lt_algorithm(device, p, descriptor.get(), a.get(), b.get(), d.get());
  const Blas& blas = device.blas();
  const float one = 1;
  check(cublasLtMatmul(blas.lt(), descriptor.get(), &one, p.a, a.get(), p.b, b.get(), &p.beta, p.d, d.get(), p.d,
                       d.get(), &algorithm, blas.workspace(), blas.bytes(), device.stream()));
}

}  // namespace gpunet::detail
