#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <string>

#include <gpunet/device/host/isa.hpp>

#include "support/isas.hpp"

using namespace gpunet;

namespace {

// What chosen_isa() answers while GPUNET_ISA is `wish`; the message where it throws.
std::string chosen(const char* wish) {
  const char* before = std::getenv("GPUNET_ISA");
  const std::string old = before ? before : "";
  setenv("GPUNET_ISA", wish, 1);
  std::string answer;
  try {
    const Isa isa = detail::chosen_isa();
    answer = isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "baseline";
  } catch (const Error& error) {
    answer = error.what();
  }
  before ? setenv("GPUNET_ISA", old.c_str(), 1) : unsetenv("GPUNET_ISA");
  return answer;
}

}  // namespace

TEST_CASE("set_isa switches to every path that the processor has") {
  const KeepIsa keep;
  CHECK(isas().front() == Isa::baseline);
  CHECK(isas().back() == detail::widest_isa());
  for (Isa path : isas()) {
    set_isa(path);
    CHECK(isa() == path);
  }
}

TEST_CASE("a path that the processor does not have is refused") {
  const KeepIsa keep;
  if (detail::widest_isa() == Isa::avx512) return;  // it has them all
  CHECK_THROWS_WITH_AS(set_isa(Isa::avx512),
                       "gpunet::set_isa: this processor does not have that vector path", Error);
  CHECK(chosen("avx512") == concat("GPUNET_ISA is 'avx512', which this processor with its "
                                   "operating system does not have (its widest is ",
                                   detail::widest_isa() == Isa::avx2 ? "avx2" : "baseline",
                                   "), unset it"));
}

TEST_CASE("GPUNET_ISA chooses the path") {
  CHECK(chosen("baseline") == "baseline");
  CHECK(chosen("sse") == "GPUNET_ISA is 'sse' (want baseline, avx2 or avx512)");
  if (detail::widest_isa() >= Isa::avx2) CHECK(chosen("avx2") == "avx2");
  const std::string widest = chosen("");
  CHECK(widest == (detail::widest_isa() == Isa::avx512 ? "avx512"
                   : detail::widest_isa() == Isa::avx2 ? "avx2"
                                                       : "baseline"));
}

TEST_CASE("a path needs the instructions and an operating system that saves the registers") {
  // Intel's manual, volume 2A, CPUID: ecx of leaf 1, ebx of leaf 7. Volume 1, 13.3: bits of xcr0.
  constexpr std::uint32_t fma = 1u << 12, avx = 1u << 28, avx2 = 1u << 5;
  constexpr std::uint32_t f = 1u << 16, dq = 1u << 17, bw = 1u << 30, vl = 1u << 31;
  constexpr std::uint64_t x87_sse = 3, ymm = 4, zmm = 0xe0;
  const auto widest = [](std::uint32_t leaf1, std::uint32_t leaf7, std::uint64_t saved) {
    return detail::widest_isa(detail::CpuFeatures{leaf1, leaf7, saved});
  };
  const std::uint32_t all512 = avx2 | f | dq | bw | vl;
  CHECK(widest(fma | avx, all512, x87_sse | ymm | zmm) == Isa::avx512);
  // Noxsave of zmm, as in some virtual machines.
  CHECK(widest(fma | avx, all512, x87_sse | ymm) == Isa::avx2);
  CHECK(widest(fma | avx, all512, x87_sse) == Isa::baseline);
  CHECK(widest(0, all512, x87_sse | ymm | zmm) == Isa::baseline);
  CHECK(widest(avx, all512, x87_sse | ymm | zmm) == Isa::baseline);  // no fma
  CHECK(widest(fma | avx, f | dq | bw | vl, x87_sse | ymm | zmm) == Isa::baseline);
  for (const std::uint32_t missing : {f, dq, bw, vl})
    CHECK(widest(fma | avx, all512 & ~missing, x87_sse | ymm | zmm) == Isa::avx2);
  CHECK(widest(fma | avx, avx2, x87_sse | ymm) == Isa::avx2);
  CHECK(widest(0, 0, 0) == Isa::baseline);
}

#if defined(__linux__) && GPUNET_X86
TEST_CASE("the path is that of the flags that Linux lists") {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line) && !line.starts_with("flags")) {
  }
  if (line.empty()) return;
  line += ' ';
  const auto has = [&](const char* flag) {
    return line.find(std::string(" ") + flag + " ") != std::string::npos;
  };
  const bool avx2 = has("avx2") && has("fma");
  const bool avx512 =
      avx2 && has("avx512f") && has("avx512vl") && has("avx512dq") && has("avx512bw");
  CHECK(detail::widest_isa() == (avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::baseline));
}
#endif
