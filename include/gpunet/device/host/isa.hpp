// Which vector instructions the host kernels use.
#pragma once

#include <cstdlib>
#include <string_view>

#include <gpunet/core/error.hpp>

#define GPUNET_TARGET_AVX2 "avx2,fma"
#define GPUNET_TARGET_AVX512 "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma"

namespace gpunet {

// A vector path. Every kernel exists in each; the wider ones need a processor that has them.
enum class Isa { baseline, avx2, avx512 };

namespace detail {

inline Isa widest_isa() {
#if GPUNET_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
#endif
  return Isa::baseline;
}

// The path that the environment variable GPUNET_ISA asks for (baseline, avx2, avx512), else the widest there is.
inline Isa chosen_isa() {
  const char* wish = std::getenv("GPUNET_ISA");
  if (!wish || !*wish) return widest_isa();
  const std::string_view name = wish;
  require(name == "baseline" || name == "avx2" || name == "avx512", "GPUNET_ISA is '", name,
          "' (want baseline, avx2 or avx512)");
  const Isa isa = name == "avx512" ? Isa::avx512 : name == "avx2" ? Isa::avx2 : Isa::baseline;
  require(isa <= widest_isa(), "GPUNET_ISA is '", name, "', which this processor does not have, unset it");
  return isa;
}

inline Isa& current_isa() {
  static Isa isa = chosen_isa();
  return isa;
}

}  // namespace detail

// The path in use: the widest that the processor has unless GPUNET_ISA or set_isa says otherwise.
inline Isa isa() {
  return detail::current_isa();
}

// Switches the path for the whole program, as tests do. Not while kernels run. Throws Error where it does not
// exist.
inline void set_isa(Isa isa) {
  require(isa <= detail::widest_isa(), "gpunet::set_isa: this processor does not have that vector path");
  detail::current_isa() = isa;
}

}  // namespace gpunet
