#!/usr/bin/env bash
# train.sh [LESSON] [option...]: builds a lesson of examples/ (01, 02_iris; default 01_cifar10) and runs it with the
# options in the current folder. Installs missing packages (Debian, Ubuntu). Uses nvcc, which takes minutes, if there is a
# GPU; the environment variable GPUNET_CUDA=ON or OFF overrides that. LESSON --help lists the options of a lesson.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Prints the comment at the top of a file, whose lines begin with `mark`, each line after `indent`.
print_head_comment() {
  local file=$1 mark=$2 indent=$3 line
  while IFS= read -r line && [[ $line == "$mark"* ]]; do
    [[ $line == '#!'* ]] || printf '%s%s\n' "$indent" "${line#"$mark "}"
  done <"$file"
}

if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  print_head_comment "${BASH_SOURCE[0]}" '#' ''
  printf '\nThe lessons:\n'
  for lesson in "$root"/examples/[0-9]*.cpp; do
    printf '\n  %s\n' "$(basename "$lesson" .cpp)"
    print_head_comment "$lesson" // '    '
  done
  exit 0
fi

lesson=01_cifar10
if [[ ${1:-} =~ ^[0-9] ]]; then
  lessons=("$root"/examples/[0-9]*.cpp)
  lessons=("${lessons[@]##*/}")
  lessons=("${lessons[@]%.cpp}")
  found=
  for lesson in "${lessons[@]}"; do [[ $lesson != "$1" && ${lesson%%_*} != "$1" ]] || found=$lesson; done
  [[ -n $found ]] || fail "train.sh: there is no lesson '$1', want one of ${lessons[*]}"
  lesson=$found
  shift
fi

need_compiler
need cmake ninja

build_dir=$root/build/train
configure "$build_dir" -DCMAKE_BUILD_TYPE=Release -DGPUNET_BUILD_TESTS=OFF -DGPUNET_CUDA="${GPUNET_CUDA:-$(cuda_here)}"
build "$build_dir" "$lesson"

exec "$build_dir/examples/$lesson" "$@"
