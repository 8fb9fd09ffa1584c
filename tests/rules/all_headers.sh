#!/usr/bin/env bash
# all_headers.sh INCLUDE_DIR: checks that gpunet.hpp or another header beside it reaches each header, except those that a
# program includes itself: they need a library, are for tests of layers, or for other libraries and files.
set -euo pipefail
cd "$1/gpunet"

optional=(distributed/mpi.hpp distributed/nccl.cuh io/stb_image.hpp io/zlib.hpp nn/gradient_check.hpp tensor/dlpack.hpp tensor/files.hpp)

find . -type f ! -name 'src.*' -printf '%P\n' | sort | xargs -r awk -v optional="${optional[*]}" '
  FNR == 1 { ++files; if (FILENAME !~ /\//) reached[FILENAME] }
  /^ *#/ && match($0, /<gpunet\/[^>]*>/) {
    includes[FILENAME] = includes[FILENAME] " " substr($0, RSTART + 8, RLENGTH - 9)
  }
  { all[FILENAME] }
  END {
    n = split(optional, names, " ")
    for (i = 1; i <= n; ++i) reached[names[i]]
    do {
      more = 0
      for (file in reached) {
        n = split(includes[file], names, " ")
        for (i = 1; i <= n; ++i) if (!(names[i] in reached)) { reached[names[i]]; more = 1 }
      }
    } while (more)
    for (file in all)
      if (!(file in reached)) { print file ": no header for programs includes it (gpunet.hpp or one beside it)"; bad = 1 }
    if (!bad) print files " headers, all reached"
    exit bad
  }'
