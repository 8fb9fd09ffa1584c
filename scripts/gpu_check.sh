#!/usr/bin/env bash
# gpu_check.sh: builds for the GPU of this machine, runs the tests on it, then the sanitizers over the op tests, compares
# the first losses of the lesson with Host's, and measures beside PyTorch; within 9 minutes. Needs the CUDA toolkit, cmake
# and a compiler, no network; installs nothing. What is not there, or does not end in its time, is said and left out.
#   GPUNET_DOCTEST_DIR      folder that holds doctest/doctest.h, where it is not installed
#   GPUNET_BENCH_PYTHON     a Python with PyTorch (else python3, if that has it)
#   GPUNET_TEST_DATA        folder with cifar10/ and iris/; without it the lesson runs on built-in images
#   GPUNET_CHECK_SECONDS    the time to take (525)
#   OUT                     a folder for what was measured, and the logs
# Ends with 0 if everything passed and every goal holds, 1 if not, 77 without a GPU.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$root/scripts/gpu_parts.sh"

[[ $# == 0 ]] || fail "gpu_check.sh: unknown arguments '$*' (it takes none; see the variables at its top)"
if ! gpus=$(nvidia-smi -L 2>/dev/null) || [[ $gpus != *GPU* ]]; then
  say "there is no GPU here (nvidia-smi -L shows none): nothing was measured"
  exit 77
fi
gpu=$(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null | head -n 1) || true
command -v cmake >/dev/null || fail "no cmake (it builds the tests), install it or put it in PATH"

total=${GPUNET_CHECK_SECONDS:-525}
build_dir=$root/build/gpu
mkdir -p "$build_dir"
report=$build_dir/gpu_check.txt
parts=$build_dir/parts.txt  # a line for each: name, ok or bad or none, what there is to say
rm -f "$build_dir"/{benchmarks.json,benchmarks.md,*.log}
: >"$report"
: >"$parts"
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

tell "GPU: ${gpu:-${gpus%%$'\n'*}}, $(date -u +%Y-%m-%d)"

# Each part may go on until its share of the whole time is over; what one leaves, the next may use.
until_percent 46 && attempt build build_all
until_percent 61 && attempt tests run_tests
until_percent 74 && attempt sanitizers run_sanitizers
until_percent 79 && attempt answers compare_answers
until_percent 100 && attempt benchmarks run_benchmarks
