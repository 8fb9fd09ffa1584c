#!/usr/bin/env bash
# test.sh [--quick]: builds the tests and the examples and runs the tests, with g++ and, if available,
# nvcc. --quick omits nvcc. Installs missing packages (Debian, Ubuntu); optional packages are used if
# they are installed. The last line has the counts. GPUNET_TEST_LABELS is a regular expression that
# selects tests by their labels, such as 'rules|docs'.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$root/scripts/tally.sh"

[[ $# == 0 || ($# == 1 && $1 == --quick) ]] || fail "test.sh: unknown arguments '$*', want nothing or --quick"

need_compiler
need cmake ninja doctest
labels=${GPUNET_TEST_LABELS:-.}

# test_host: without nvcc.
test_host() {
  say "this takes about 15 minutes on two processors; a tenth of the way is a figure"
  test_way host '' "$labels"
}

# Sets `simulator`; to nothing if there is a GPU.
choose_gpu() {
  simulator=
  if nvidia-smi -L >/dev/null 2>&1; then
    say "Cuda is tested on $(nvidia-smi -L | head -n 1)"
    return
  fi
  find_simulator || return
  [[ -n $simulator ]] || say "the tests on Cuda are skipped: there is no GPU, and tools/cudasim needs CUDA 13 and AVX2"
}

if [[ ${1:-} == --quick ]]; then
  say "no tests with nvcc: --quick"
  test_host
elif ! find_nvcc; then
  say "no tests with nvcc: there is none"
  test_host
elif ! "$nvcc" --version | grep -qE 'release (1[2-9]|[2-9][0-9])\.'; then
  say "no tests with nvcc: $nvcc is older than 12, the first with C++20"
  test_host
elif choose_gpu; then
  say "this takes about 40 minutes on two processors, since nvcc is here (--quick: 15); a tenth of the way is a figure"
  test_way cuda '' "$labels" "-DGPUNET_CUDA_SIMULATOR=$simulator" -DGPUNET_BUILD_BENCHMARKS=ON
else
  echo 0 1 0 >>"$tally"
fi

finish_tally
