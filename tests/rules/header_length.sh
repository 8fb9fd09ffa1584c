#!/usr/bin/env bash
# header_length.sh INCLUDE_DIR: checks that no header is longer than 600 lines.
set -euo pipefail
cd "$1/gpunet"

find . -type f -printf '%P\n' | sort | xargs -r awk '
  FNR == 601 { print FILENAME ": over 600 lines, split it"; bad = 1 }
  FNR == 1 { ++files }
  END { if (!bad) print files " headers of at most 600 lines"; exit bad }'
