#!/usr/bin/env bash
# all_bodies.sh INCLUDE_DIR: checks that each .ipp is included by a header and by the src.hpp of its folder, and each
# FOLDER/src.hpp and src.cuh by gpunet/src.hpp and src.cuh: else header-only programs, or the compiled library, would lack
# its functions.
set -euo pipefail
cd "$1/gpunet"

want() {  # FILE INCLUDED: FILE includes it
  grep -qsE "^ *#include <gpunet/$2>" "$1" || { echo "$1: does not include $2"; bad=1; }
}

bad=0 bodies=0
while read -r body; do
  header=${body%.ipp}.hpp
  [[ $body != model/output.ipp ]] || header=model/network.hpp  # which both need
  want "$header" "$body"
  want "${body%%/*}/src.hpp" "$body"
  bodies=$((bodies + 1))
done < <(find . -name '*.ipp' -printf '%P\n' | sort)
for part in */src.hpp */src.cuh; do
  [[ ! -e $part ]] || want "${part##*/}" "$part"
done
((bad)) || echo "$bodies files of bodies, all in src.hpp"
exit "$bad"
