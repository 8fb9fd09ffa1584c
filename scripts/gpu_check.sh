#!/usr/bin/env bash
# gpu_check.sh [PART...] [OPTION...]: builds, tests and measures on the GPU of this machine. Needs the CUDA toolkit, cmake and
# a compiler, but no network; installs nothing. Parts, each of which may be called alone:
#   probe      device, driver, memory, one kernel and one product of cuBLASLt; every other part starts with it
#   build      all programs that the other parts run; continues an interrupted build
#   tests      the tests on Cuda; continues with the tests not yet run
#   lessons    the programs of examples/ on Cuda; continues the same way
#   sanitize   compute-sanitizer over the tests of our kernels, the most important ones first; continues the same way
#   bench      the benchmarks, in comparison with PyTorch
#   all        these in order (the default)
# Options:
#   --seconds N   the time limit of each part (580), after which it is cut
#   --simulated   uses a simulator instead of a GPU
#   --markdown    bench also writes its tables to docs/gpu.md
# Variables:
#   DOCTEST_DIR             folder that contains doctest/doctest.h, if it is not installed
#   CUDNN_ROOT              folder of cuDNN (nvidia/cudnn of its wheel); without it, cuDNN is used if it is installed
#   GPUNET_TEST_TIMEOUT     seconds after which a test counts as hung (100; simulated: 500); read by build
#   GPUNET_TEST_DATA        folder with cifar10/ and iris/; tests that need them are skipped without
#   GPUNET_BENCH_PYTHON     a Python with PyTorch (else python3, if that has it)
#   GPUNET_CUDA_SIMULATOR   folder of the simulator's libraries (else built from tools/cudasim)
#   OUT                     a folder for the results: gpu_check.json, gpu_check.txt, bench.md, logs
# Status: 0 all passed, 1 something failed, 75 a part was cut (call it again), 77 there is no GPU.
# shellcheck disable=SC2034  # variables of the files that are sourced
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$root/scripts/gpu_report.sh"
. "$root/scripts/gpu_parts.sh"
. "$root/scripts/gpu_bench.sh"

parts=(probe build tests lessons sanitize bench)
wanted=()
seconds=580
simulated=
packed=
only=
bench_options=()  # of gpu_bench
markdown=         # whether bench writes its tables into docs/gpu.md
while [[ $# -gt 0 ]]; do
  case $1 in
    probe | build | tests | lessons | sanitize | bench) wanted+=("$1") ;;
    all) wanted+=("${parts[@]:1}") ;;  # each begins with the probe
    --seconds)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "gpu_check.sh: --seconds is '${2:-}', want a number of seconds, such as 580"
      seconds=$2
      shift ;;
    --simulated) simulated=yes ;;
    --markdown) markdown=yes ;;
    --help) sed -n '2,/^# Status/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;;
    *) fail "gpu_check.sh: unknown argument '$1', want probe, build, tests, lessons, sanitize, bench or all (see --help)" ;;
  esac
  shift
done
[[ ${#wanted[@]} -gt 0 ]] || wanted=("${parts[@]:1}")

build_dir=$root/build/gpu${simulated:+_simulated}
results=$build_dir.check  # a file of notes and one of text for each part, replaced when the part runs again
require_gpu
command -v cmake >/dev/null || fail "gpu_check.sh: found no cmake (it builds the tests), install it or put it in PATH"
mkdir -p "$results"
use_real_data
trap finish EXIT
trap 'stop 130' INT
trap 'stop 143' TERM

for part in "${wanted[@]}"; do
  run_part "$part" || break
done
