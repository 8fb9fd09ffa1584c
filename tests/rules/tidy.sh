#!/usr/bin/env bash
# tidy.sh INCLUDE_DIR: checks all headers for programs by .clang-tidy. Versions of clang-tidy differ in their checks; exit
# status 77 without the one below.
set -euo pipefail
config=$(cd "$(dirname "$0")/../.." && pwd)/.clang-tidy
version=14

tidy=$(command -v "clang-tidy-$version" || command -v clang-tidy || true)
if [[ -z $tidy ]] || ! "$tidy" --version | grep -qF "version $version."; then
  echo "skipped: there is no clang-tidy $version here"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$1/gpunet"
printf '#include <gpunet/%s>\n' [!s]*.hpp >"$work/all.cpp"
"$tidy" --quiet --config-file="$config" "$work/all.cpp" -- -std=c++20 -I"$1" 2>/dev/null  # a count of warnings
