// Includes the file GPUNET_KERNELS once for every vector path of this processor family, and forgets
// the macro.
//
// A kernel file defines functions in the namespace gpunet::GPUNET_PATH (gpunet::avx512, ...). It
// may use
//
//   GPUNET_LANES     floats in the path's vector
//   GPUNET_TARGET    attributes of every function that touches vectors. The target has to stand on
//                    helpers too, since compilers lower vector code before they inline it.
//
// and the vector type and its functions (vectors.inl; include isa_paths.hpp first). No include
// guard: this file is meant to be included again.

GPUNET_BEGIN_HOST_PRAGMAS
#if !GPUNET_NVCC && !defined(__clang__)
// g++ sees a change of sign in every array whose size is a template argument of type int.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

#define GPUNET_PATH baseline
#define GPUNET_LANES 4
#define GPUNET_TARGET
#include GPUNET_KERNELS
#undef GPUNET_PATH
#undef GPUNET_LANES
#undef GPUNET_TARGET

#if GPUNET_X86
#define GPUNET_PATH avx2
#define GPUNET_LANES 8
#define GPUNET_TARGET [[gnu::target(GPUNET_TARGET_AVX2)]]
#include GPUNET_KERNELS
#undef GPUNET_PATH
#undef GPUNET_LANES
#undef GPUNET_TARGET

#define GPUNET_PATH avx512
#define GPUNET_LANES 16
#define GPUNET_TARGET [[gnu::target(GPUNET_TARGET_AVX512)]]
#include GPUNET_KERNELS
#undef GPUNET_PATH
#undef GPUNET_LANES
#undef GPUNET_TARGET
#endif

#if !GPUNET_NVCC && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
GPUNET_END_HOST_PRAGMAS
#undef GPUNET_KERNELS
