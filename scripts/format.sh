#!/usr/bin/env bash
# format.sh [--check] [file...]: formats the sources (or the files) by .clang-format; with --check, only lists unformatted
# ones. Versions of clang-format differ in details, so --check requires the one below; exit status 77 without it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
version=14

action=-i
if [[ ${1:-} == --check ]]; then
  action=--dry-run
  shift
fi

formatter=$(command -v "clang-format-$version" || command -v clang-format || true)
if [[ -z $formatter ]] ||
  { [[ $action == --dry-run ]] && ! "$formatter" --version | grep -qF "version $version."; }; then
  say "skipped: there is no clang-format $version here"
  exit 77
fi

if [[ $# == 0 ]]; then
  cd "$root"
  mapfile -t files < <(find include examples benchmarks tests scripts tools -regex '.*\.\(hpp\|ipp\|cuh\|inl\|cpp\|cu\)')
  set -- "${files[@]}"
fi
"$formatter" "$action" --Werror --style=file:"$root/.clang-format" "$@"
