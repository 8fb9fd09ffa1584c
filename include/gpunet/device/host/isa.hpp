// Which vector instructions the host kernels use.
#pragma once

#include <cstdint>

#include <gpunet/core/error.hpp>

#define GPUNET_TARGET_AVX2 "avx2,fma"
#define GPUNET_TARGET_AVX512 "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"

namespace gpunet {

// A vector path. Every kernel exists in each; the wider ones need a processor that has them.
enum class Isa { baseline, avx2, avx512 };

namespace detail {

// Registers of cpuid, and of xgetbv: which vectors the operating system saves.
struct CpuFeatures {
  std::uint32_t leaf1_ecx = 0, leaf7_ebx = 0;
  std::uint64_t xcr0 = 0;
};
CpuFeatures cpu_features();

// Returns the widest path of a processor with its system, and of this one.
Isa widest_isa(const CpuFeatures& features);
Isa widest_isa();

// The path that the environment variable GPUNET_ISA asks for (baseline, avx2, avx512), else the
// widest there is.
Isa chosen_isa();
Isa& current_isa();

}  // namespace detail

// The path in use: the widest that the processor has unless GPUNET_ISA or set_isa says otherwise.
inline Isa isa() {
  return detail::current_isa();
}

// Switches the path for the whole program, as tests do. Not while kernels run. Throws Error where
// it does not exist.
void set_isa(Isa isa);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/device/host/isa.ipp>
#endif
