// Loops and matrix products on Cuda, for every compiler: a CUDA compiler makes a kernel of each
// functor, other compilers use the kernels of the compiled library.
#pragma once

#include <concepts>

#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/gemm.hpp>

#if GPUNET_CUDA

#if GPUNET_NVCC
#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/gemm/gemm.cuh>
#include <gpunet/device/cuda/sum_each.cuh>
#else

namespace gpunet {

// See for_each.cuh. Functors of gpunet are `extern template`: for them this is not compiled.
template <class F>
void for_each(Cuda&, index_t, F) {
  static_assert(sizeof(F) == 0,
                "gpunet::for_each: a functor of this program runs on Cuda, and only a CUDA "
                "compiler makes a kernel of it, compile this unit with nvcc");
}

// See sum_each.cuh.
template <class F>
void sum_each(Cuda&, index_t, index_t, F) {
  static_assert(sizeof(F) == 0,
                "gpunet::sum_each: a functor of this program runs on Cuda, and only a CUDA "
                "compiler makes a kernel of it, compile this unit with nvcc");
}

// See device/gemm.hpp.
template <std::floating_point T>
void gemm(Cuda& device, Transpose ta, Transpose tb, index_t m, index_t n, index_t k, const T* a,
          const T* b, T beta, T* c);

}  // namespace gpunet

#endif

#endif

// For functors whose loops (F: for_each, S: sum_each) on Cuda the compiled library holds: units do
// not compile them, and the library does.
#if GPUNET_COMPILED && GPUNET_CUDA
#define GPUNET_EXTERN_LOOP(...) \
  extern template void ::gpunet::for_each(::gpunet::Cuda&, ::gpunet::index_t, __VA_ARGS__)
#define GPUNET_EXTERN_SUM(...)                                                                   \
  extern template void ::gpunet::sum_each(::gpunet::Cuda&, ::gpunet::index_t, ::gpunet::index_t, \
                                          __VA_ARGS__)
#else
#define GPUNET_EXTERN_LOOP(...) static_assert(true)
#define GPUNET_EXTERN_SUM(...) static_assert(true)
#endif
#define GPUNET_COMPILE_LOOP(...) \
  template void ::gpunet::for_each(::gpunet::Cuda&, ::gpunet::index_t, __VA_ARGS__)
#define GPUNET_COMPILE_SUM(...)                                                           \
  template void ::gpunet::sum_each(::gpunet::Cuda&, ::gpunet::index_t, ::gpunet::index_t, \
                                   __VA_ARGS__)
