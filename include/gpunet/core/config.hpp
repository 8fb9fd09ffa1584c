// Compiler and platform switches. The only file that asks which compiler is running.
#pragma once

#include <cstdint>

#if __cplusplus < 202002L
#error "gpunet: this is not C++20, compile with -std=c++20"
#endif

// Macros of windows.h and others. The standard library removes them too, but only if they are there
// before its first header.
#undef min
#undef max

// 1 if a CUDA compiler reads this unit, which may then include .cuh files and define kernels.
#if defined(__CUDACC__)
#define GPUNET_NVCC 1
#define GPUNET_FN __host__ __device__  // a function that kernels may call
// Around host code with unroll pragmas for GCC: nvcc passes them on, but would warn that it does
// not know them.
#define GPUNET_BEGIN_HOST_PRAGMAS _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675")
#define GPUNET_END_HOST_PRAGMAS _Pragma("nv_diagnostic pop")
#else
#define GPUNET_NVCC 0
#define GPUNET_FN
#define GPUNET_BEGIN_HOST_PRAGMAS
#define GPUNET_END_HOST_PRAGMAS
#endif

// 1 in programs that link the compiled library gpunet::compiled, which contains the bodies of all
// functions that are not templates (files x.ipp). 0: every unit compiles the bodies that it
// includes.
#ifndef GPUNET_COMPILED
#define GPUNET_COMPILED 0
#endif
#if GPUNET_COMPILED && !GPUNET_NVCC
#define GPUNET_INLINE
#else
#define GPUNET_INLINE inline
#endif

// 1 if this translation unit may use the Cuda policy: a CUDA compiler reads it, or the CMake target
// gpunet::cuda, whose library contains the kernels, defines this.
#ifndef GPUNET_CUDA
#if GPUNET_COMPILED && GPUNET_NVCC
#error "gpunet: nvcc compiles this unit for gpunet::compiled (which has no Cuda), link gpunet::cuda"
#endif
#define GPUNET_CUDA GPUNET_NVCC
#elif GPUNET_CUDA && !GPUNET_COMPILED && !GPUNET_NVCC
#error "gpunet: GPUNET_CUDA=1 without the compiled library (it has the kernels), link gpunet::cuda"
#endif
#if GPUNET_COMPILED
// Bodies of functions, not templates, that only gpunet::cuda contains (.cuh) or each library for
// itself (GPUNET_BACKENDS).
#define GPUNET_BACKENDS_INLINE
#define GPUNET_INLINE_VIRTUAL
#else
#define GPUNET_BACKENDS_INLINE inline
// Declarations of virtual functions in a class whose bodies are in an .ipp file: with a virtual
// function that the class does not declare inline, g++ compiles all of them in every unit that has
// their bodies, used or not.
#define GPUNET_INLINE_VIRTUAL inline
#endif
// The inline namespace of definitions that differ with and without Cuda.
#if GPUNET_CUDA
#define GPUNET_BACKENDS host_and_cuda
#else
#define GPUNET_BACKENDS host_only
#endif

// 1 if cuDNN is to be used: defined by the CMake target gpunet::cudnn.
#ifndef GPUNET_CUDNN
#define GPUNET_CUDNN 0
#endif

// Attributes of functions whose loops are to be vectorized, also with -O2. Where comparisons may
// trap and functions set errno, g++ keeps branches in them.
#if defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ < 12
#error "gpunet: g++ is older than 12 (no __builtin_shufflevector), use g++-12, clang++-14 or later"
#endif
#define GPUNET_VECTORIZE gnu::optimize("O3", "no-math-errno", "no-trapping-math"), gnu::flatten
#define GPUNET_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#elif defined(__clang__)
#define GPUNET_VECTORIZE gnu::flatten
#define GPUNET_INDEPENDENT_ITERATIONS  // Clang checks for overlaps at run time
#else
#error "gpunet: neither GCC nor Clang (host kernels use their vector extensions), use one of them"
#endif

// 1 on processors with vector paths (AVX2, AVX-512) beside the baseline.
#if defined(__x86_64__)
#define GPUNET_X86 1
#else
#define GPUNET_X86 0
#endif

// Marks a declaration whose uses warn and name its replacement: GPUNET_DEPRECATED("use X").
#define GPUNET_DEPRECATED(instead) \
  [[deprecated("gpunet: old name (a later version removes it), " instead)]]

// 1 unless the address sanitizer watches memory.
#if defined(__SANITIZE_ADDRESS__)
#define GPUNET_CACHES_HOST_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GPUNET_CACHES_HOST_MEMORY 0
#endif
#endif
#ifndef GPUNET_CACHES_HOST_MEMORY
#define GPUNET_CACHES_HOST_MEMORY 1
#endif

// 1 if the compiler has exceptions. Without (-fno-exceptions), an error ends in a handler, see
// error.hpp.
#if defined(__cpp_exceptions)
#define GPUNET_EXCEPTIONS 1
#else
#define GPUNET_EXCEPTIONS 0
#endif

#ifndef NDEBUG
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
