#!/usr/bin/env bash
# docs.sh [--check [FOLDER]]: writes the reference of the public headers to build/docs/html with doxygen, and installs that if
# it is missing (Debian, Ubuntu). Public names without a comment are errors. --check only looks for these (in the headers of
# FOLDER) and installs nothing; warnings differ between versions of doxygen, so it requires the one below. Exit status 77
# without it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
version=1.9.4

[[ $# == 0 || ($# -le 2 && $1 == --check) ]] || fail "docs.sh: unknown arguments '$*', want nothing or --check [FOLDER]"
cd "$root"
if [[ ${1:-} == --check ]]; then
  if ! command -v doxygen >/dev/null || [[ $(doxygen --version) != "$version"* ]]; then
    say "skipped: there is no doxygen $version here"
    exit 77
  fi
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
else
  need doxygen
  out=$root/build/docs
  mkdir -p "$out"
fi

{
  cat docs/doxygen/Doxyfile
  printf 'OUTPUT_DIRECTORY = "%s"\n' "$out"
  [[ $# -lt 2 ]] || printf 'INPUT = "%s"\n' "$2"
} | doxygen - ||
  fail "docs.sh: the comments of the headers are not complete, see above: say what it is, shapes, units and errors"
[[ ${1:-} == --check ]] && say "every public type and function has its comment" || say "written: $out/html/index.html"
