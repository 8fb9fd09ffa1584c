#!/usr/bin/env bash
# run_page.sh PAGE LIBRARY COMPILER [FLAG...]: the C++ blocks of a page compile and run, linked with LIBRARY, in an empty folder,
# in the order of the page.
#   ```cpp with int main(   a program of its own; what it prints is the next block, which begins with ```text
#   ```cpp otherwise        all together one program: a block that begins with #include, template or struct stands outside
#                           of its main function, the others inside, one after another; assert() is on
#   ```csv NAME             a file that the programs find
set -euo pipefail
page=$(realpath "$1")
library=$2
shift 2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here"
awk -v work="$work" '
  /^```/ && !inside {
    inside = 1; language = substr($1, 4); name = $2; block = ""; lines = 0; next
  }
  /^```$/ {
    inside = 0
    if (language == "csv") printf "%s", block >(work "/here/" name)
    if (language == "text" && wants_output) printf "%s", block >(work "/program" programs ".txt")
    wants_output = 0
    if (language != "cpp") next
    if (block ~ /(^|\n)int main\(/) {
      printf "%s", block >(work "/program" ++programs ".cpp")
      wants_output = 1
    } else if (block ~ /^(#include|template|struct)/) {
      outside = outside block
    } else {
      inner = inner block
    }
    next
  }
  inside { block = block $0 "\n" }
  END {
    if (outside inner != "") printf "#include <cassert>\n%s\nint main() {\n%s}\n", outside, inner >(work "/joined.cpp")
  }' "$page"

cd "$work/here"
count=0
for source in "$work"/program*.cpp "$work/joined.cpp"; do
  [[ -e $source ]] || continue
  program=${source%.cpp}
  "$@" "$source" "$library" -pthread -o "$program" || { echo "$page: ${source##*/} does not compile"; exit 1; }
  "$program" >"$program.out" || { cat "$program.out"; echo "$page: ${source##*/} fails"; exit 1; }
  if [[ $source == */program* ]]; then
    diff -u --label "what $page says" --label "what the program prints" "$program.txt" "$program.out" || exit 1
  fi
  count=$((count + 1))
done
[[ $count -gt 0 ]] || { echo "$page: no C++"; exit 1; }
echo "$count programs"
