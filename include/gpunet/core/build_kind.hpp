// Whether the units of a program are compiled for the compiled library or header-only: one kind for all of them.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <gpunet/core/config.hpp>

namespace gpunet::detail {

// Bit GPUNET_COMPILED of each unit that has started.
inline unsigned build_kinds = 0;

// Ends a program that has both kinds before its main(): of each function it would run one definition by chance.
inline bool note_build_kind(unsigned compiled) {
  build_kinds |= 1u << compiled;
  if (build_kinds == 3) {
    std::fputs(
        "gpunet: this program has units compiled with GPUNET_COMPILED=1 and units compiled without (functions "
        "would "
        "have two definitions), link gpunet::compiled to all of its targets or to none\n",
        stderr);
    std::_Exit(EXIT_FAILURE);
  }
  return true;
}

// No unnamed namespace: nvcc mistakes it for that of the unit.
[[maybe_unused]] static const bool build_kind_noted = note_build_kind(GPUNET_COMPILED);

}  // namespace gpunet::detail
