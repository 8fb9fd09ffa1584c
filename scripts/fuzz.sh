#!/usr/bin/env bash
# fuzz.sh SECONDS [TARGET...], or fuzz.sh --runs N [TARGET...]: builds the fuzz targets of tests/fuzz with clang++, libFuzzer
# and sanitizers in build/fuzz and runs all of them or the named ones, one after another: SECONDS in total, or N inputs each.
# The corpus stays in build/fuzz/corpus for the next run. Installs missing packages (Debian, Ubuntu). Prints the number of
# inputs of each target and, if one breaks a reader, how to reproduce it; then the exit status is 1.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage="want fuzz.sh SECONDS [TARGET...], or fuzz.sh --runs N [TARGET...]"
runs=
if [[ ${1:-} == --runs ]]; then
  runs=yes
  shift
fi
amount=${1:-}
[[ $amount =~ ^[1-9][0-9]*$ ]] || fail "fuzz.sh: '$amount' is not a number, $usage"
shift

sources=$root/tests/fuzz
known=()
for source in "$sources"/targets/*.cpp; do
  source=${source##*/}
  known+=("${source%.cpp}")
done
targets=("$@")
[[ $# -gt 0 ]] || targets=("${known[@]}")
for target in "${targets[@]}"; do
  [[ -e $sources/targets/$target.cpp ]] || fail "fuzz.sh: unknown target '$target', want some of ${known[*]}"
done

need cmake ninja doctest zlib clang++
need clang-sanitizers clang-fuzzer

build_dir=$root/build/fuzz
mkdir -p "$build_dir"
exec {building}>"$build_dir/lock"
flock "$building"  # one call builds, the next finds all built
configure "$build_dir" --preset fuzz
build "$build_dir" gpunet_fuzz_replay "${targets[@]/#/fuzz_}"
exec {building}>&-
programs=$build_dir/tests/fuzz

# A temporary folder for readers of folders, in memory if possible.
TMPDIR=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo "${TMPDIR:-/tmp}")")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# The longest inputs, in bytes: twice what a small file of the kind takes.
longest() {
  case $1 in
    api) echo 256 ;;
    cifar) echo 9222 ;;
    checkpoint | load | npz | pickle | torch_file | zip) echo 16384 ;;
    *) echo 4096 ;;
  esac
}

# Programs of the library allocate much: memory that is free is used again sooner than by default.
export ASAN_OPTIONS=malloc_context_size=8:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}

share=$((amount / ${#targets[@]}))
limit=-max_total_time=$((share > 0 ? share : 1))
[[ -z $runs ]] || limit=-runs=$amount

broken=0
for target in "${targets[@]}"; do
  seeds=$build_dir/seeds/$target corpus=$build_dir/corpus/$target findings=$build_dir/findings/$target
  log=$build_dir/$target.log
  mkdir -p "$seeds" "$corpus" "$findings"
  "$programs/gpunet_fuzz_replay" "$target" --write "$seeds"
  options=("$limit" "-max_len=$(longest "$target")" -rss_limit_mb=2048 -timeout=25 -print_final_stats=1
    "-artifact_prefix=$findings/")
  [[ ! -e $sources/dictionaries/$target.dict ]] || options+=("-dict=$sources/dictionaries/$target.dict")
  # Any input of these runs most of the library, and many calls cost little more than one: they are long from the start. Half of the
  # time would go to the statistics of rare branches and to a search for leaks after each input; there is one at the end.
  [[ $target != api && $target != checkpoint ]] || options+=(-len_control=0 -entropic=0 -detect_leaks=0)
  start=$SECONDS status=0
  "$programs/fuzz_$target" "${options[@]}" "$corpus" "$seeds" >"$log" 2>&1 </dev/null || status=$?
  inputs=$(awk '/^stat::number_of_executed_units:/ { n = $2 } END { print n + 0 }' "$log")
  if [[ $status == 0 ]]; then
    counts=$(sed -n 's/^fuzz: //p' "$log")
    echo "$target: $inputs inputs${counts:+, $counts} in $((SECONDS - start)) s, no finding"
    continue
  fi
  broken=$((broken + 1))
  input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  why=$(grep -m 1 -E '^(SUMMARY|finding|terminate called)' "$log" || echo "status $status")
  echo "$target: a finding after $inputs inputs: $why"
  echo "  reproduce it: $programs/fuzz_$target ${input:-(no input was written, see $log)}"
  if [[ -n $input ]] && "$programs/fuzz_$target" -rss_limit_mb=2048 -timeout=25 "$input" >>"$log" 2>&1 </dev/null; then
    echo "  alone, this input is not a finding: the machine was busy, or the inputs before it matter"
  fi
done
if [[ $broken -gt 0 ]]; then
  say "findings in $broken of ${#targets[@]} targets; fix the reader, then add the input to tests/fuzz/findings/TARGET"
  exit 1
fi
