#!/usr/bin/env bash
# snippets.sh PAGE UNIT COMPILER [FLAG...]: UNIT compiles with all blocks of C++ of PAGE, one after the other, where it
# includes "snippets.inl".
set -euo pipefail
page=$1 unit=$2
shift 2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```cpp$/ { inside = 1; ++blocks; next } /^```$/ { inside = 0 } inside { print } END { exit !blocks }' "$page" \
  >"$work/snippets.inl" || { echo "$page: no C++"; exit 1; }
"$@" -I"$work" -c "$unit" -o "$work/unit.o" || { echo "$page: its C++ does not compile in $unit"; exit 1; }
