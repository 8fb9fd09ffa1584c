#!/usr/bin/env bash
# train.sh [option...]: builds the lesson (examples/01_cifar10) and runs it with the options, from here.
# Installs what is missing to build it (Debian, Ubuntu). Uses nvcc where there is one. --help tells the options.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_compiler
need cmake ninja

build_dir=$root/build/train
configure "$build_dir" -DCMAKE_BUILD_TYPE=Release -DGPUNET_BUILD_TESTS=OFF
build "$build_dir" 01_cifar10

exec "$build_dir/examples/01_cifar10" "$@"
