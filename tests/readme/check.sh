#!/usr/bin/env bash
# check.sh README COMPILER [FLAG...]: the first C++ program of README is whole, and compiles.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
readme_program "$1" >"$folder/readme.cpp"
shift
cd "$folder"
"$@" readme.cpp
