// The vector paths: one copy of every tuned kernel for each, chosen at run time.
#pragma once

#include <algorithm>
#include <cstdint>

#include <gpunet/core/long_sum.hpp>
#include <gpunet/device/host/isa.hpp>

namespace gpunet {

typedef float Vector4 __attribute__((vector_size(16)));
typedef float Vector8 __attribute__((vector_size(32)));

}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/device/host/vectors.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet::detail {

// The widest path in use whose vector is not longer than `width` floats. Kernels need one whole
// vector at least.
[[gnu::noinline]] inline Isa path_for_width(index_t width) {
  const Isa fits = width >= 16 ? Isa::avx512 : width >= 8 ? Isa::avx2 : Isa::baseline;
  return std::min(fits, isa());
}

}  // namespace gpunet::detail

// Calls kernel(...) of the widest path that `width` floats fill; kernel is a function of a kernel
// file.
#if GPUNET_X86
#define GPUNET_CALL_PATH(width, kernel, ...)                                   \
  do {                                                                         \
    const ::gpunet::Isa gpunet_path = ::gpunet::detail::path_for_width(width); \
    if (gpunet_path == ::gpunet::Isa::avx512)                                  \
      ::gpunet::avx512::kernel(__VA_ARGS__);                                   \
    else if (gpunet_path == ::gpunet::Isa::avx2)                               \
      ::gpunet::avx2::kernel(__VA_ARGS__);                                     \
    else                                                                       \
      ::gpunet::baseline::kernel(__VA_ARGS__);                                 \
  } while (false)
#else
#define GPUNET_CALL_PATH(width, kernel, ...) ::gpunet::baseline::kernel(__VA_ARGS__)
#endif
