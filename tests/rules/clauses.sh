#!/usr/bin/env bash
# clauses.sh INCLUDE_DIR: checks that at most 40 lines of comments have a clause in the place of a noun, see
# docs/style.md. `what` in backticks is a parameter.
set -euo pipefail
cd "$1/gpunet"

find . -type f -printf '%P\n' | sort | xargs -r awk -v limit=40 '
  BEGIN {
    clauses = "[Ww]hat(ever)?|[Tt]hose (that|of|which)|[Tt]he ones? (that|of|which)|[Aa]s many( [a-z]+)? as|[Hh]ow (many|much|often|long|far)"
  }
  match($0, "//(.*[^`a-z])?(" clauses ")([^`a-z]|$)") { lines = lines FILENAME ":" FNR ":" $0 "\n"; ++count }
  END {
    if (count > limit) printf "%s%d such comments (want at most %d), find the noun: docs/style.md\n", lines, count, limit
    else print count + 0 " comments with a clause in the place of a noun"
    exit count > limit
  }'
