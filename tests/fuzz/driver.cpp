// What libFuzzer calls: the one target that is linked to this.
#include <cstdint>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run(fuzz::targets().at(0), std::as_bytes(std::span(data, size)));
  return 0;
}
