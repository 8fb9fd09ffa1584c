// Bodies of isa.hpp.
#pragma once

#include <cstdlib>
#include <string_view>

#include <gpunet/device/host/isa.hpp>

namespace gpunet {

namespace detail {

GPUNET_INLINE Isa widest_isa() {
#if GPUNET_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
#endif
  return Isa::baseline;
}

GPUNET_INLINE Isa chosen_isa() {
  const char* wish = std::getenv("GPUNET_ISA");
  if (!wish || !*wish) return widest_isa();
  const std::string_view name = wish;
  require(name == "baseline" || name == "avx2" || name == "avx512", "GPUNET_ISA is '", name,
          "' (want baseline, avx2 or avx512)");
  const Isa isa = name == "avx512" ? Isa::avx512 : name == "avx2" ? Isa::avx2 : Isa::baseline;
  require(isa <= widest_isa(), "GPUNET_ISA is '", name, "', which this processor does not have, unset it");
  return isa;
}

GPUNET_INLINE Isa& current_isa() {
  static Isa isa = chosen_isa();
  return isa;
}

}  // namespace detail

GPUNET_INLINE void set_isa(Isa isa) {
  require(isa <= detail::widest_isa(), "gpunet::set_isa: this processor does not have that vector path");
  detail::current_isa() = isa;
}

}  // namespace gpunet
