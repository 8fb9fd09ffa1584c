#!/usr/bin/env bash
# cuda_words.sh INCLUDE_DIR: checks that only .cuh files contain CUDA, and only core/config.hpp tests __CUDACC__.
set -euo pipefail
cd "$1/gpunet"

found=$(
  { grep -rnE --exclude='*.cuh' '<<<|__global__|__shared__|\bthreadIdx|\bcu(da|blas|dnn)[A-Z_]|\bcub::|\bthrust::' . || true
    grep -rn '__CUDACC__' . | grep -v '^\./core/config\.hpp:' || true
  } | sed 's|^\./||')
[[ -z $found ]] || {
  printf '%s\n' "$found" "CUDA words in files that every C++ compiler reads: move them into a .cuh"
  exit 1
}
echo "no CUDA words in $(find . -type f ! -name '*.cuh' | wc -l) headers"
