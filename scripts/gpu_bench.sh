#!/usr/bin/env bash
# The benchmarks of gpu_check.sh and gpu_device.sh, which source this. As a program it fills the tables of docs/gpu.md with
# results of another machine:
#   gpu_bench.sh FILE...    bench.md of gpu_check.sh there, or goals.md and rest.md of gpu_device.sh
# shellcheck disable=SC2154  # build_dir, bench_options, markdown come from gpu_check.sh

# fill_tables FILE...: replaces the lines between the two markers of docs/gpu.md by the files.
fill_tables() {
  local file
  for file; do
    [[ -s $file ]] || { say "there are no tables in $file, run gpu_check.sh bench"; return 1; }
  done
  fill_between gpu_bench "$root/docs/gpu.md" <(cat "$1"; for file in "${@:2}"; do echo; cat "$file"; done)
}

# run_benchmarks: measures until the time limit and notes the results: `benchmarks` for correctness, `goals` for speed, which
# is never a failure. If `markdown` is set, the tables are written to docs/gpu.md.
run_benchmarks() {
  local bench=$build_dir/benchmarks/gpu/gpu_bench tables=$build_dir/$part.md printed=$build_dir/$part.txt
  local python=${GPUNET_BENCH_PYTHON:-$(command -v python3 || true)} status=0 most
  if [[ ! -x $bench ]]; then
    note benchmarks none "there is no program of the benchmarks"
    note goals none "not measured"
    return 0
  fi
  rm -f "$tables" "$printed" "$build_dir/$part".{json,log}
  cd "${bench%/*}"
  most=$(at_least_1 $(($(left) - 15)))  # it ends by itself before it would be cut
  within "$bench" --seconds "$most" --json "$build_dir/$part.json" --markdown "$tables" \
    ${python:+--python "$python"} ${bench_options[@]+"${bench_options[@]}"} \
    >"$printed" 2>"$build_dir/$part.log" || status=$?
  head -c 5000 "$build_dir/$part.log" >&2
  note_benchmarks "$status" "$printed" "$tables"
  [[ -z ${markdown:-} || ! -s $tables ]] || write_tables "$tables"
}

# note_benchmarks STATUS PRINTED TABLES: prints the output of gpu_bench and notes its results.
note_benchmarks() {
  local status=$1 printed=$2 tables=$3 why last
  if grep -q '^PyTorch: none' "$printed"; then
    why=$(sed -n 's/^PyTorch: none *//p' "$printed")
    note PyTorch none "only ours is measured ${why:-(no python3)}; GPUNET_BENCH_PYTHON names a Python with PyTorch"
  fi
  local summary tried=0 compared=0 wrong=0 left_out=0 goals_held=0 goals_missed=0 goals_unmeasured=0 pair
  summary=$(sed -n 's/^summary: //p' "$printed")
  for pair in $summary; do
    [[ ! $pair =~ ^[a-z_]+=[0-9]+$ ]] || local "${pair?}"
  done
  if [[ -z $summary ]]; then
    last=$(sed -n 's/^measuring: //p' "$printed" | tail -n 1)
    [[ ! -s $tables ]] || tell "" "$(<"$tables")" ""
    if is_cut "$status"; then
      note benchmarks bad "CUT: the time was over and it did not end by itself (it hung at ${last:-its beginning})"
    else
      note benchmarks bad "failed with status $status at ${last:-its beginning} (see $part.log)"
    fi
    note goals none "not measured to the end"
    return 0
  fi
  tell "" "$(grep -vE '^(measuring|summary): ' "$printed")" ""
  local words="$tried lines, $compared of them beside PyTorch, $wrong wrong, $left_out left out"
  if [[ $status == 0 && $wrong == 0 ]]; then
    note benchmarks "$([[ $tried != 0 ]] && echo ok || echo none)" "$words"
  else
    note benchmarks bad "$words (see above)"
  fi
  words="$goals_held hold, $goals_missed do not, $goals_unmeasured not measured"
  if [[ $goals_held != 0 && $goals_missed == 0 && $goals_unmeasured == 0 ]]; then
    note goals ok "$words"
  else
    note goals none "$words"
  fi
}

# write_tables TABLES: writes the tables to docs/gpu.md.
write_tables() {
  if [[ -n ${GPUNET_BENCH_TINY:-} ]]; then
    say "docs/gpu.md was not changed: times of a simulator are meaningless, they are in $1"
  elif fill_tables "$1"; then
    tell "docs/gpu.md has the tables now."
  else
    note docs/gpu.md bad "the tables could not be filled in (see above)"
  fi
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  . "$(dirname "$0")/lib.sh"
  [[ $# != 0 ]] || fail "gpu_bench.sh: no arguments (want bench.md of gpu_check.sh, or goals.md and rest.md of gpu_device.sh)"
  fill_tables "$@"
fi
