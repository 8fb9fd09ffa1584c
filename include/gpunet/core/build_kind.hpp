// Refuses programs that mix translation units compiled header-only with units compiled for the
// compiled library, or with exceptions and without.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <gpunet/core/config.hpp>

namespace gpunet::detail {

// Bit 0: a header-only unit has started; bit 1: a unit with GPUNET_COMPILED=1; bit 2: a unit
// without exceptions; bit 3: a unit with them.
inline unsigned build_kinds = 0;

// Ends a program that has both kinds, before its main(): the linker would choose one of two
// definitions of each function at random.
inline bool note_build_kind(unsigned compiled, unsigned exceptions) {
  build_kinds |= 1u << compiled | 4u << exceptions;
  const char* problem = nullptr;
  if ((build_kinds & 3) == 3)
    problem =
        "units compiled with GPUNET_COMPILED=1 and units compiled without (functions would have "
        "two definitions), link gpunet::compiled or gpunet::cuda to all of its targets or to none";
  else if ((build_kinds & 12) == 12)
    problem =
        "units compiled with -fno-exceptions and units compiled without (functions would have two "
        "definitions), compile all of them, gpunet::compiled too, with or without";
  if (problem) {
    std::fprintf(stderr,
                 "gpunet: this program has %s; shared libraries that are to differ need "
                 "-fvisibility=hidden\n",
                 problem);
    std::_Exit(EXIT_FAILURE);
  }
  return true;
}

// Not in an unnamed namespace, which nvcc would confuse with its own for this unit.
[[maybe_unused]] static const bool build_kind_noted =
    note_build_kind(GPUNET_COMPILED, GPUNET_EXCEPTIONS);

}  // namespace gpunet::detail
