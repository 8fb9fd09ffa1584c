#!/usr/bin/env bash
# check.sh README COMPILER [FLAG...]: the first C++ program of README is whole, and compiles.
set -euo pipefail
readme=$1
shift

program=$(awk '/^```cpp$/ { inside = 1; next } inside && /^```$/ { exit } inside' "$readme")
[[ $program == *'int main('* ]] || { echo "$readme: the first block of C++ has no main"; exit 1; }
"$@" -fsyntax-only -x c++ - <<<"$program"
