#!/usr/bin/env bash
# train.sh [LESSON] [option...]: builds a lesson of examples/ (01, 02_iris; without one 01_cifar10) and runs it with the
# options, from here. Installs what is missing to build it (Debian, Ubuntu). Uses nvcc where there is a GPU for it (it takes
# minutes); GPUNET_CUDA=ON or OFF in the environment overrules that. --help tells the options of the lesson.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

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
