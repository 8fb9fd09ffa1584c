#!/usr/bin/env bash
# gpu_device.sh PART... [OPTION...]: tests and measures on the GPU of this machine (H100 or H200) with the
# programs of gpu_pack.sh, in the folder where its archive was unpacked. Needs no compiler and no cmake, but
# ctest, and python3 for comparisons with PyTorch. Parts, in the order in which they are given; the first one
# begins with the probe:
#   probe      device, driver, memory, one kernel and one product of cuBLASLt
#   tests      the tests on Cuda, 12 at a time
#   latency    launches, nodes of graphs, barriers, atomics, loads
#   ncu        every kernel of a step of four networks: time, bytes, sectors, issue slots, occupancy
#   goals      the benchmarks that have goals, in comparison with PyTorch
#   lessons    the programs of examples/ on Cuda
#   rest       the other benchmarks
#   sanitize   compute-sanitizer over the tests of our kernels, the most important ones first
# A part that fails, hangs or is cut leaves the others their time, and OUT has its results as soon as it ends.
# Options:
#   --seconds N      the time limit of all parts together (390); each has its own limit in it
#   --only REGEX     tests runs only the entries of ctest with such names
#   --simulated      uses a simulator instead of a GPU, with the programs of gpu_pack.sh --simulated
# Variables:
#   OUT                     a folder for the results: gpu_check.json, gpu_check.txt, goals.md, rest.md, ncu.csv, logs
#   GPUNET_BENCH_PYTHON     a Python with PyTorch (else python3, if that has it)
#   GPUNET_TEST_DATA        folder with cifar10/ and iris/ (else the archive's, which has iris/)
#   GPUNET_CUDA_SIMULATOR   folder of the simulator's libraries (else the archive's)
# Status: as of gpu_check.sh.
# shellcheck disable=SC2034  # variables of the files that are sourced
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$root/scripts/gpu_report.sh"
. "$root/scripts/gpu_parts.sh"
. "$root/scripts/gpu_bench.sh"

parts=(probe tests latency ncu goals lessons rest sanitize)
declare -A limits=([probe]=90 [tests]=150 [latency]=20 [ncu]=80 [goals]=190 [lessons]=90 [rest]=150 [sanitize]=240)
wanted=()
total=390
only=
simulated=
packed=yes
at_once=12
bench_options=(--repetitions 5 --ms 30)
while [[ $# -gt 0 ]]; do
  case $1 in
    probe | tests | latency | ncu | goals | lessons | rest | sanitize) wanted+=("$1") ;;
    --seconds)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "gpu_device.sh: --seconds is '${2:-}', want a number of seconds, such as 390"
      total=$2
      shift ;;
    --only)
      only=${2:?gpu_device.sh: --only wants a regular expression}
      shift ;;
    --simulated) simulated=yes ;;
    --help) sed -n '2,/^# Status/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;;
    *) fail "gpu_device.sh: unknown argument '$1', want ${parts[*]} (see --help)" ;;
  esac
  shift
done
[[ ${#wanted[@]} != 0 ]] || fail "gpu_device.sh: no part is named, want some of ${parts[*]}"

build_dir=$root/build/gpu${simulated:+_simulated}
results=$build_dir.check

# Has the files of ctest and cmake name this folder instead of the one in which they were made.
fit_paths() {
  local made_in
  made_in=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build_dir/CMakeCache.txt")
  [[ $made_in != "$root" ]] || return 0
  find "$build_dir" \( -name CTestTestfile.cmake -o -name CMakeCache.txt \) \
    -exec sed -i -E "s#$made_in([^[:alnum:]_.-]|\$)#$root\1#g" {} +
}

# Finds the libraries of CUDA, beside PyTorch or of the toolkit. Reads them, of PyTorch in the background, so that they
# are in memory when the first program wants them: a test would wait for them, and 12 of them for each other.
find_libraries() {
  local torch folder folders=() linked missing
  torch=$("${GPUNET_BENCH_PYTHON:-python3}" -c \
    'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])' 2>/dev/null) || torch=
  for folder in "${torch%/*}"/nvidia/{cu13,cudnn,nccl}/lib "${CUDA_HOME:-/usr/local/cuda}/lib64"; do
    [[ ! -d $folder ]] || folders+=("$folder")
  done
  folder=$(IFS=:; echo "${folders[*]}")
  export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  linked=$(use_simulator; ldd "$build_dir"/{tests/cuda/gpunet_tests_cuda,benchmarks/gpu/gpu_bench} || true)
  missing=$(awk '/not found/ && !known[$1]++ { print $1 }' <<<"$linked" | paste -sd ' ')
  [[ -z $missing ]] || fail "gpu_device.sh: found no $missing in $LD_LIBRARY_PATH, add the folder to LD_LIBRARY_PATH"
  linked=$(awk '/cublas|cudnn|cudart/ && !known[$3]++ { print $3 }' <<<"$linked")
  say "libraries: $(paste -sd ' ' <<<"$linked")"
  [[ -z $simulated ]] || return 0
  xargs timeout 60 cat <<<"$linked" >/dev/null || true
  [[ -z $torch ]] || { cat "${torch%/*}"/nvidia/cudnn/lib/*.so* "$torch"/lib/*.so >/dev/null 2>&1 || true; } </dev/null &
}

run_latency() {
  local status=0 log=$build_dir/latency.log
  use_simulator
  [[ -z $simulated ]] || export GPUNET_BENCH_TINY=1
  within "$build_dir/benchmarks/gpu/gpu_latency" >"$log" 2>&1 || status=$?
  tell "$(<"$log")"
  if [[ $status == 0 ]]; then
    note latency ok "$(grep -c ' us' "$log") measured, $(grep -c 'not measured' "$log") not"
  else
    note latency bad "ended with status $status (see above)"
  fi
}

# The kernels of the first steps of networks. The numbers of kernels cover a step.
run_ncu() {
  local ncu step=$build_dir/benchmarks/gpu/gpu_bench
  ncu=$(command -v ncu || find /opt/nvidia/nsight-compute /usr/local/cuda/bin -name ncu -executable 2>/dev/null |
    sort | tail -n 1)
  if [[ -z $ncu ]]; then
    note ncu none "found no ncu in PATH, /opt/nvidia/nsight-compute and /usr/local/cuda/bin"
    return
  fi
  rm -rf "$build_dir"/ncu{,.csv}
  mkdir -p "$build_dir/ncu"
  cd "$build_dir/ncu"
  export GPUNET_CUDNN=never
  profile lenet_b4 60 bash -c "echo start | '$step' worker exact 600 lenet_b4"
  profile vgg_b32 120 bash -c "echo start | '$step' worker exact 600 vgg_b32"
  profile resnet20 300 "$build_dir/examples/07_resnet" --device cuda --images 256 --epochs 1
  profile transformer 300 "$build_dir/examples/09_text" --device cuda --model transformer --epochs 1
}
metrics=(gpu__time_duration.sum dram__bytes_read.sum dram__bytes_write.sum lts__t_sectors_op_read.sum
  lts__t_sectors_op_write.sum smsp__inst_executed.sum smsp__issue_active.avg.pct_of_peak_sustained_active
  sm__warps_active.avg.pct_of_peak_sustained_active)
# profile NETWORK KERNELS COMMAND...: adds so many kernels of the command to ncu.csv.
profile() {
  local network=$1 kernels=$2 log=$1.log status=0 most found
  shift 2
  most=$(($(left) / 2 + 1))  # a part that hangs leaves the others half of the time
  within_seconds "$most" "$ncu" --csv --page raw --metrics "$(IFS=,; echo "${metrics[*]}")" --log-file "$network.csv" \
    --clock-control none --target-processes all --graph-profiling node --launch-count "$kernels" --kill yes "$@" \
    >"$log" 2>&1 || status=$?
  # Of the lines of quoted fields, lines that begin with "ID" and "" name the columns and their units.
  awk -v network="$network" '/^"(ID)?",/ { if (network == "lenet_b4") print "\"Network\"," $0; next }
    /^"/ { print "\"" network "\"," $0 }' "$network.csv" >"$network.lines" 2>/dev/null || true
  cat "$network.lines" >>"$build_dir/ncu.csv"
  found=$(grep -c "^\"$network\"" "$network.lines" || true)
  if [[ $found != 0 ]]; then
    note "ncu $network" ok "$found kernels"
  else
    note "ncu $network" bad "no kernels, status $status: $(cat "$network.csv" "$log" 2>/dev/null | grep -m 1 -iE 'error|==')"
  fi
}

run_goals() { bench_options+=(--lines goals); run_bench; }
run_rest() { bench_options+=(--lines rest); run_bench; }

[[ -e $build_dir/CMakeCache.txt ]] ||
  fail "gpu_device.sh: there are no programs in $build_dir, unpack the archive of gpu_pack.sh"
command -v ctest >/dev/null || PATH=$PATH:$(python3 -c 'import sys; print(sys.prefix)')/bin  # the wheel of cmake has one
require_gpu
if [[ -n $simulated ]]; then
  simulator=${GPUNET_CUDA_SIMULATOR:-$root/build/cudasim}
elif [[ ! -x $results/probe_sm_$capability ]]; then
  fail "gpu_device.sh: the programs are not compiled for this GPU ($gpu)"
fi
export GPUNET_TEST_DATA=${GPUNET_TEST_DATA:-$root/build/data}
fit_paths
find_libraries
rm -f "$results"/probe.{notes,txt}
trap finish EXIT
trap 'stop 130' INT
trap 'stop 143' TERM

for part in "${wanted[@]}"; do
  seconds=$((total - SECONDS))
  # A simulator takes a hundred times as long.
  [[ -n $simulated || $seconds -lt ${limits[$part]} ]] || seconds=${limits[$part]}
  if [[ $seconds -lt 5 ]]; then
    rm -f "$results/$part.notes"
    note "$part" cut "there was no time for it"
    ran+=("$part")
    continue
  fi
  run_part "$part" || break
done
