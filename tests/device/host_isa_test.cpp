#include <cstdlib>
#include <doctest/doctest.h>
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
  CHECK_THROWS_WITH_AS(set_isa(Isa::avx512), "gpunet::set_isa: this processor does not have that vector path",
                       Error);
  CHECK(chosen("avx512") == "GPUNET_ISA is 'avx512', which this processor does not have, unset it");
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
