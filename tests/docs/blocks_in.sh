#!/usr/bin/env bash
# blocks_in.sh PAGE FILE...: every C++ block of a page stands, as it is, in one of the files (which are compiled and tested).
set -euo pipefail
page=$1
shift

awk '
  FILENAME != page { text[FILENAME] = text[FILENAME] $0 "\n"; next }
  /^```cpp$/ { inside = 1; block = ""; line = FNR; ++blocks; next }
  inside && /^```$/ {
    inside = 0
    found = 0
    for (file in text) found += index("\n" text[file], "\n" block) > 0
    if (!found) { print page ":" line ": this block is in none of the files"; bad = 1 }
    next
  }
  inside { block = block $0 "\n" }
  END { if (!bad) print blocks " blocks"; exit bad || !blocks }' page="$page" "$@" "$page"
