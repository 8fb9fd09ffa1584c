// Refuses programs that mix translation units compiled header-only with units compiled for the compiled library.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <gpunet/core/config.hpp>

namespace gpunet::detail {

// Bit 0: a header-only unit has started; bit 1: a unit with GPUNET_COMPILED=1.
inline unsigned build_kinds = 0;

// Ends a program that has both kinds, before its main(): the linker would choose one of two definitions of each
// function at random.
inline bool note_build_kind(unsigned compiled) {
  build_kinds |= 1u << compiled;
  if (build_kinds == 3) {
    std::fputs(
        "gpunet: this program has units compiled with GPUNET_COMPILED=1 and units compiled without (functions "
        "would "
        "have two definitions), link gpunet::compiled or gpunet::cuda to all of its targets or to none\n",
        stderr);
    std::_Exit(EXIT_FAILURE);
  }
  return true;
}

// Not in an unnamed namespace, which nvcc would confuse with its own for this unit.
[[maybe_unused]] static const bool build_kind_noted = note_build_kind(GPUNET_COMPILED);

}  // namespace gpunet::detail
