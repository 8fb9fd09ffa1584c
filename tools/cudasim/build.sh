#!/usr/bin/env bash
# build.sh FOLDER: builds the libraries of the simulator into FOLDER, compiling only what has changed. CUDA_HOME is the toolkit
# (/usr/local/cuda), CXX the compiler (g++).
set -euo pipefail
[[ $# == 1 ]] || {
  echo "usage: build.sh FOLDER" >&2
  exit 2
}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/src" && pwd)
mkdir -p "$1/obj"
out=$(cd "$1" && pwd)
cuda=${CUDA_HOME:-/usr/local/cuda}
export cxx=${CXX:-g++}
export flags="-std=c++20 -O2 -march=x86-64-v3 -frounding-math -fPIC -fvisibility=hidden -pthread -I$cuda/include"
cd "$out/obj"

libraries=(cudart cublas cublasLt)
[[ ! -e $cuda/include/nccl.h ]] || libraries+=(nccl)  # not part of every toolkit

units=()
for unit in "$source"/*.cpp; do
  object=$(basename "$unit" .cpp).o
  [[ $object != nccl.o || " ${libraries[*]} " == *" nccl "* ]] || continue
  [[ -e $object && -z $(find "$unit" "$source"/*.hpp "$source/../build.sh" -newer "$object" -print -quit) ]] ||
    units+=("$unit" "$object")
done
# shellcheck disable=SC2016  # the inner shell expands them
printf '%s\n' "${units[@]}" | xargs -r -P "$(nproc)" -n 2 sh -c 'exec $cxx $flags -c "$0" -o "$1"'

# link LIBRARY VERSION OBJECT...: all but the runtime itself call the runtime.
link() {
  local name=$1 file=lib$1.so.$2
  shift 2
  # shellcheck disable=SC2016  # the loader expands it
  [[ $name == cudart ]] || set -- "$@" -L.. -l:libcudart.so.13 '-Wl,-rpath,$ORIGIN'
  "$cxx" -shared -pthread "$@" -o "../$file.tmp" "-Wl,-soname,$file" "-Wl,--version-script=$source/${name,,}.map" \
    -Wl,--no-undefined -ldl
  mv "../$file.tmp" "../$file"
  ln -sf "$file" "../lib$name.so"
}
runtime=("$source"/ptx_*.cpp "$source"/rt_*.cpp)
runtime=("${runtime[@]##*/}")
for library in "${libraries[@]}"; do
  case $library in
    cudart) link cudart 13 "${runtime[@]/%.cpp/.o}" ;;
    nccl) link nccl 2 nccl.o ;;
    *) link "$library" 13 "${library,,}.o" blas_status.o ;;
  esac
done
