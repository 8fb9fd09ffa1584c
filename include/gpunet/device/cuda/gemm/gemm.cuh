// The matrix product on Cuda: cuBLAS.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>

#include <gpunet/device/cuda/blas.cuh>
#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/gemm.hpp>

namespace gpunet {

namespace detail {

template <class T>
struct ScaleBy {
  T factor;
  T* c;

  GPUNET_FN void operator()(index_t i) const { c[i] = factor == T(0) ? T(0) : factor * c[i]; }
};

inline cublasOperation_t blas_operation(Transpose t) {
  return t == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace detail

// See device/gemm.hpp. In full precision of T, as PyTorch's default. Throws Error when a size is
// over 2^31 - 1.
template <std::floating_point T>
void gemm(Cuda& device, Transpose ta, Transpose tb, index_t m, index_t n, index_t k, const T* a,
          const T* b, T beta, T* c) {
  if (m == 0 || n == 0) return;
  if (k == 0) return for_each(device, m * n, detail::ScaleBy<T>{beta, c});
  constexpr index_t most = std::numeric_limits<int>::max();
  require(std::max({m, n, k}) <= most, "gpunet::gemm: a [", m, ", ", k, "] by [", k, ", ", n,
          "] product has a size over ", most, ", use a smaller batch");

  const detail::CurrentDevice current(device.ordinal());
  const auto size = [](index_t extent) {
    return static_cast<int>(extent);
  };
  const T one = 1;
  // cuBLAS is column-major, so it computes C^T = op(B)^T op(A)^T.
  const auto product = [&](auto blas_gemm) {
    check(blas_gemm(device.blas().handle(), detail::blas_operation(tb), detail::blas_operation(ta),
                    size(n), size(m), size(k), &one, b, size(tb == Transpose::yes ? k : n), a,
                    size(ta == Transpose::yes ? m : k), &beta, c, size(n)));
  };
  if constexpr (std::same_as<T, float>)
    product(cublasSgemm_v2);
  else
    product(cublasDgemm_v2);
}

}  // namespace gpunet
