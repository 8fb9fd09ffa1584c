// Compiler and platform switches. The only file that asks which compiler is running.
#pragma once

#include <cstdint>

#if __cplusplus < 202002L
#error "gpunet: this is not C++20, compile with -std=c++20"
#endif

#if defined(__CUDACC__)
#define GPUNET_CUDA 1                  // this translation unit may use the Cuda policy
#define GPUNET_FN __host__ __device__  // a function that kernels may call
#define GPUNET_BACKENDS host_and_cuda  // inline namespace of definitions that differ with and without CUDA
// Around host code with unroll pragmas for GCC: nvcc passes them on, but would warn that it does not know them.
#define GPUNET_BEGIN_HOST_PRAGMAS _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675")
#define GPUNET_END_HOST_PRAGMAS _Pragma("nv_diagnostic pop")
#else
#define GPUNET_CUDA 0
#define GPUNET_FN
#define GPUNET_BACKENDS host_only
#define GPUNET_BEGIN_HOST_PRAGMAS
#define GPUNET_END_HOST_PRAGMAS
#endif

// 1 if cuDNN is to be used: defined by the CMake target gpunet::cudnn.
#ifndef GPUNET_CUDNN
#define GPUNET_CUDNN 0
#endif

// Attributes of functions whose loops are to be vectorized, also with -O2.
#if defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ < 12
#error "gpunet: g++ is older than 12 (it lacks __builtin_shufflevector), use g++-12 or clang++-14 or later"
#endif
#define GPUNET_VECTORIZE gnu::optimize("O3"), gnu::flatten
#define GPUNET_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#elif defined(__clang__)
#define GPUNET_VECTORIZE gnu::flatten
#define GPUNET_INDEPENDENT_ITERATIONS  // Clang checks for overlaps at run time
#else
#error \
    "gpunet: this compiler is neither GCC nor Clang (the host kernels use their vector extensions), use one of them"
#endif

// 1 on processors with vector paths (AVX2, AVX-512) beside the baseline.
#if defined(__x86_64__)
#define GPUNET_X86 1
#else
#define GPUNET_X86 0
#endif

// 1 in programs that link the compiled library gpunet::compiled, which contains the bodies of all functions that are
// not templates (files x.ipp). 0: every unit compiles the ones that it includes.
#ifndef GPUNET_COMPILED
#define GPUNET_COMPILED 0
#endif
#if GPUNET_COMPILED
#define GPUNET_INLINE
#else
#define GPUNET_INLINE inline
#endif

#if !defined(NDEBUG) && !defined(GPUNET_NO_ASSERT)
#define GPUNET_ASSERTIONS 1
#else
#define GPUNET_ASSERTIONS 0
#endif

namespace gpunet {

// Sizes, counts and indices. Signed, so that differences are safe.
using index_t = std::int64_t;

// Class labels, as losses read them.
using label_t = std::int32_t;

}  // namespace gpunet
