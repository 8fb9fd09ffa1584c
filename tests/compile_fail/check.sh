#!/usr/bin/env bash
# check.sh FILE COMPILER [FLAG...]: FILE must not compile, and the first error must contain every sentence that the file
# names in its leading lines "// expect: ...". With a line "// lines: N" below these, the whole output has at most N lines; with a
# line "// note: ...", it contains that sentence.
set -euo pipefail
export LC_ALL=C
file=$1
shift

mapfile -t sentences < <(sed -n '/^\/\/ expect: /!q; s/^\/\/ expect: //p' "$file")
[[ ${#sentences[@]} -gt 0 ]] || { echo "$file: the first line is not '// expect: <sentence>'"; exit 1; }
note=$(sed -n '/^\/\//!q; s/^\/\/ note: //p' "$file")
most=$(sed -n '/^\/\//!q; s/^\/\/ lines: //p' "$file")

if output=$("$@" -fsyntax-only "$file" 2>&1); then
  echo "$file: it compiles, and must not"
  exit 1
fi
first=$(grep -m1 'error:' <<<"$output") || { printf '%s\n' "$file: no error in the output:" "$output"; exit 1; }
for sentence in "${sentences[@]}"; do
  [[ $first == *"$sentence"* ]] && continue
  printf '%s\n' "$file: the first error is not the expected one" "expected: $sentence" "found:    $first" \
    "all of it:" "$output"
  exit 1
done
lines=$(wc -l <<<"$output")
[[ -z $most || $lines -le $most ]] || { printf '%s\n' "$file: $lines lines of output, want at most $most:" "$output"; exit 1; }
[[ -z $note || $output == *"$note"* ]] || { printf '%s\n' "$file: the output lacks '$note':" "$output"; exit 1; }
echo "$first"
