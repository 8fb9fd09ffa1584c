#!/usr/bin/env bash
# all_bodies.sh INCLUDE_DIR: checks that each x.ipp with bodies (GPUNET_INLINE) is included by x.hpp and by the src.hpp
# of its folder, and that by gpunet/src.hpp: else header-only programs, or the compiled library, would lack its functions.
set -euo pipefail
cd "$1/gpunet"

want() {  # FILE INCLUDED: FILE includes it
  grep -qsE "^ *#include <gpunet/$2>" "$1" || { echo "$1: does not include $2"; bad=1; }
}

bad=0 bodies=0
while read -r body; do
  want "${body%.ipp}.hpp" "$body"
  want "${body%%/*}/src.hpp" "$body"
  want src.hpp "${body%%/*}/src.hpp"
  bodies=$((bodies + 1))
done < <(grep -rl --include='*.ipp' '^GPUNET_INLINE' . | sed 's,^\./,,' | sort)
((bad)) || echo "$bodies files of bodies, all in src.hpp"
exit "$bad"
