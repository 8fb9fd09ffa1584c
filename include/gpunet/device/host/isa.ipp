// Bodies of isa.hpp.
#pragma once

#include <cstdlib>
#include <string_view>

#if GPUNET_X86
#include <cpuid.h>
#endif

#include <gpunet/device/host/isa.hpp>

namespace gpunet {

namespace detail {

// By the instruction: __builtin_cpu_supports answers 0 in programs of some builds of clang.
GPUNET_INLINE CpuFeatures cpu_features() {
  CpuFeatures features;
#if GPUNET_X86
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx)) features.leaf1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) features.leaf7_ebx = ebx;
  constexpr std::uint32_t osxsave = 1 << 27;
  if (features.leaf1_ecx & osxsave) {  // else there is no xgetbv
    asm volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    features.xcr0 = std::uint64_t{edx} << 32 | eax;
  }
#endif
  return features;
}

GPUNET_INLINE Isa widest_isa(const CpuFeatures& features) {
  // Bits of cpuid, leaf 1 and leaf 7, and of xcr0: registers xmm and ymm; opmask and zmm.
  constexpr std::uint32_t fma = 1 << 12, avx = 1 << 28, avx2 = 1 << 5;
  // f, dq, bw, vl.
  constexpr std::uint32_t avx512 = 1 << 16 | 1 << 17 | 1 << 30 | std::uint32_t{1} << 31;
  constexpr std::uint64_t ymm = 0x06, zmm = 0xe6;
  const auto has = [](auto bits, auto wanted) {
    return (bits & wanted) == wanted;
  };
  if (!has(features.leaf1_ecx, fma | avx) || !has(features.leaf7_ebx, avx2) ||
      !has(features.xcr0, ymm))
    return Isa::baseline;
  return has(features.leaf7_ebx, avx512) && has(features.xcr0, zmm) ? Isa::avx512 : Isa::avx2;
}

GPUNET_INLINE Isa widest_isa() {
  return widest_isa(cpu_features());
}

GPUNET_INLINE Isa chosen_isa() {
  const char* wish = std::getenv("GPUNET_ISA");
  if (!wish || !*wish) return widest_isa();
  const std::string_view name = wish;
  require(name == "baseline" || name == "avx2" || name == "avx512", "GPUNET_ISA is '", name,
          "' (want baseline, avx2 or avx512)");
  const Isa isa = name == "avx512" ? Isa::avx512 : name == "avx2" ? Isa::avx2 : Isa::baseline;
  const Isa widest = widest_isa();
  require(isa <= widest, "GPUNET_ISA is '", name,
          "', which this processor with its operating system does not have (its widest is ",
          widest == Isa::avx2 ? "avx2" : "baseline", "), unset it");
  return isa;
}

GPUNET_INLINE Isa& current_isa() {
  static Isa isa = chosen_isa();
  return isa;
}

}  // namespace detail

GPUNET_INLINE void set_isa(Isa isa) {
  require(isa <= detail::widest_isa(),
          "gpunet::set_isa: this processor does not have that vector path");
  detail::current_isa() = isa;
}

}  // namespace gpunet
