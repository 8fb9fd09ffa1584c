# The parts of gpu_check.sh. Sourced after lib.sh, not run. Each part writes a line into $parts with `note`; none of them
# ends the script.
# shellcheck shell=bash disable=SC2154  # total, build_dir, report, parts come from gpu_check.sh

tell() { printf '%s\n' "$@" | tee -a "$report"; }
# note NAME ok|bad|none WORDS: how a part ended; none: it could not be done here.
note() { printf '%s\t%s\t%s\n' "$@" >>"$parts"; }

deadline=0
until_percent() { deadline=$((total * $1 / 100)); }
left() { echo $((deadline > SECONDS ? deadline - SECONDS : 0)); }
at_least_1() { echo $(($1 > 0 ? $1 : 1)); }
# within COMMAND...: runs it until the deadline at most; the status is 124 then. All that it started ends with it.
within() {
  local seconds
  seconds=$(left)
  [[ $seconds -gt 0 ]] || return 124
  timeout --kill-after=5 "$seconds" "$@" </dev/null
}
is_cut() { [[ $1 == 124 || $1 == 137 ]]; }

# attempt NAME FUNCTION: runs a part; what goes wrong in it is noted.
attempt() {
  say "$1 ..."
  ( set +e; "$2" ) || note "$1" bad "the script itself failed there (status $?)"
}

build_all() {
  local status=0 capability targets=(gpu_bench 01_cifar10) options=() program
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .)
  [[ ! $capability =~ ^[0-9]+$ ]] || options+=("-DCMAKE_CUDA_ARCHITECTURES=$capability")
  if [[ -n ${GPUNET_DOCTEST_DIR:-} ]]; then
    options+=("-DGPUNET_DOCTEST_DIR=$GPUNET_DOCTEST_DIR")
  fi
  if [[ -n ${GPUNET_DOCTEST_DIR:-} ]] || is_here doctest; then
    targets+=(gpunet_tests_cuda gpunet_link)
    options+=(-DGPUNET_BUILD_TESTS=ON)
  else
    options+=(-DGPUNET_BUILD_TESTS=OFF)
    note "no tests" none "doctest/doctest.h is not there: name its folder in GPUNET_DOCTEST_DIR"
  fi
  # What is run later is what this build has made.
  rm -f "$build_dir"/{benchmarks/gpu/gpu_bench,examples/01_cifar10,tests/cuda/gpunet_tests_cuda}
  run_limit=$(at_least_1 "$(left)")
  if ! configure "$build_dir" -DCMAKE_BUILD_TYPE=Release -DGPUNET_CUDA=ON -DGPUNET_BUILD_EXAMPLES=ON \
    -DGPUNET_BUILD_BENCHMARKS=ON "${options[@]}"; then
    note build bad "cmake could not configure (see above)"
    return 0
  fi
  run_limit=$(at_least_1 "$(left)")
  build "$build_dir" "${targets[@]}" || status=$?
  if is_cut "$status"; then
    note build bad "CUT after $SECONDS s; run again, it goes on where it was"
  elif [[ $status != 0 ]]; then
    note build bad "failed (see above)"
  else
    note build ok "$SECONDS s"
  fi
  for program in benchmarks/gpu/gpu_bench examples/01_cifar10 tests/cuda/gpunet_tests_cuda; do
    [[ -x $build_dir/$program ]] || say "there is no ${program##*/}: its parts are left out"
  done
}

run_tests() {
  local status=0 counts
  if [[ ! -x $build_dir/tests/cuda/gpunet_tests_cuda ]]; then
    note tests none "there is no test program"
    return 0
  fi
  # A GPU serves a few programs at a time well. The rules compile, which a GPU adds nothing to.
  within ctest --test-dir "$build_dir" --parallel 6 --timeout 100 --verbose -L 'cuda|nvcc' -LE rules \
    >"$build_dir/tests.log" 2>&1 || status=$?
  counts=$(awk -f "$root/scripts/count_tests.awk" "$build_dir/tests.log" 2>"$build_dir/test_notes.log")
  cat "$build_dir/test_notes.log" >&2
  local passed failed skipped
  read -r passed failed skipped <<<"$counts"
  local words="$passed passed, $failed failed, $skipped skipped"
  if is_cut "$status"; then
    note tests bad "$words, CUT: the time was over"
  elif [[ $failed == 0 && $passed != 0 ]]; then
    note tests ok "$words"
  else
    note tests bad "$words"
  fi
}

# sanitize TOOL TEST: one tool over one entry of ctest; writes "TOOL ok|bad|cut TEST". Success is the tool's own word for
# it: a status of 0 is also what a tool gives that could not begin.
sanitize() {
  local tool=$1 test=$2 status=0 log
  log=$(mktemp "$build_dir/sanitizer.XXXXXX")
  GPUNET_TEST_NEEDS_CUDA=1 within compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 20 \
    "$build_dir/tests/cuda/gpunet_tests_cuda" "--source-file=*tests/${test}_test.cpp" --case-sensitive \
    '--test-case=*Cuda*' >"$log" 2>&1 || status=$?
  if is_cut "$status"; then
    echo "$tool cut $test"
  elif [[ $status == 0 ]] && grep -qE 'SUMMARY: 0 (errors|hazards)' "$log"; then
    echo "$tool ok $test"
  else
    echo "$tool bad $test"
  fi
  { echo "== $tool $test: status $status"; head -c 100000 "$log"; } >"$build_dir/sanitized.$tool.${test//\//_}"
  rm -f "$log"
}

run_sanitizers() {
  local tests tool running=0 ok bad cut state
  if ! command -v compute-sanitizer >/dev/null; then
    note sanitizers none "there is no compute-sanitizer in PATH (it comes with the CUDA toolkit)"
    return 0
  elif [[ ! -x $build_dir/tests/cuda/gpunet_tests_cuda ]]; then
    note sanitizers none "there is no test program"
    return 0
  fi
  tests=$(ctest --test-dir "$build_dir" -N -L cuda -R '^cuda/(ops/|train/steps_in_block)' 2>/dev/null |
    sed -n 's/^ *Test *#[0-9]*: cuda\///p')
  [[ -n $tests ]] || { note sanitizers bad "ctest knows no op tests"; return 0; }
  rm -f "$build_dir"/sanitized.* "$build_dir"/sanitizer.*
  : >"$build_dir/sanitizers.txt"
  for tool in memcheck racecheck initcheck synccheck; do
    for test in $tests; do
      [[ $running -lt 6 ]] || { wait -n; running=$((running - 1)); }
      sanitize "$tool" "$test" >>"$build_dir/sanitizers.txt" &
      running=$((running + 1))
    done
  done
  wait
  cat "$build_dir"/sanitized.* >"$build_dir/sanitizers.log"
  for tool in memcheck racecheck initcheck synccheck; do
    ok=$(grep -c "^$tool ok" "$build_dir/sanitizers.txt")
    bad=$(grep -c "^$tool bad" "$build_dir/sanitizers.txt")
    cut=$(grep -c "^$tool cut" "$build_dir/sanitizers.txt")
    state=ok
    [[ $bad == 0 && $cut == 0 ]] || state=bad
    note "$tool" "$state" "$ok files clean, $bad with errors, $cut CUT"
  done
  sed -n 's/ bad / has errors in /p' "$build_dir/sanitizers.txt" >&2
}

# lesson DEVICE LOOP DIGITS: the first 20 losses.
lesson() {
  local data=()
  [[ ! -d ${GPUNET_TEST_DATA:-}/cifar10 ]] || data=(--data "$GPUNET_TEST_DATA/cifar10")
  within "$build_dir/examples/01_cifar10" ${data[@]+"${data[@]}"} --device "$1" --loop "$2" --precision "$3" \
    --seed 0 --print-every 1 --max-steps 20 --save "$build_dir/answers.safetensors" 2>&1 |
    tee -a "$build_dir/answers.log" | sed -n 's/^.*loss: *//p'
}

# near FILE FILE: as many numbers, each within 1e-5 of the other.
near() {
  [[ -s $1 && $(wc -l <"$1") == "$(wc -l <"$2")" ]] &&
    paste "$1" "$2" | awk '{ d = $1 - $2; if (NF != 2 || d * d > 1e-10 * $2 * $2) bad = 1 } END { exit bad }'
}

compare_answers() {
  local at=$build_dir/answers name="built-in images"
  if [[ ! -x $build_dir/examples/01_cifar10 ]]; then
    note answers none "there is no program of the lesson"
    return 0
  fi
  lesson cuda step 17 >"$at.step"
  lesson cuda eager 17 >"$at.eager"
  lesson cpu step 17 >"$at.cpu"
  if [[ -d ${GPUNET_TEST_DATA:-}/cifar10 ]]; then
    name="CIFAR-10"
    printf '%s\n' 2.24106455 2.28327608 2.33412051 >"$at.pytorch"  # PyTorch 1.13 on a processor
    head -n 3 "$at.step" >"$at.first"
    if near "$at.first" "$at.pytorch"; then
      note "lesson, PyTorch's losses" ok "the first 3 to 1e-5"
    else
      note "lesson, PyTorch's losses" bad "$(paste -sd ' ' "$at.first")"
    fi
  fi
  if near "$at.step" "$at.cpu"; then
    note "lesson, Host's losses" ok "$(wc -l <"$at.step") losses to 1e-5, $name"
  else
    note "lesson, Host's losses" bad "they differ or are missing, see answers.log"
  fi
  if [[ -s $at.step ]] && cmp -s "$at.step" "$at.eager"; then
    note "lesson, graph and eager" ok "the same bits"
  else
    note "lesson, graph and eager" bad "they differ or are missing, see answers.log"
  fi
}

run_benchmarks() {
  local python=${GPUNET_BENCH_PYTHON:-$(command -v python3 || true)} status=0
  local bench=$build_dir/benchmarks/gpu/gpu_bench options=()
  if [[ ! -x $bench ]]; then
    note benchmarks none "there is no program of the benchmarks"
    return 0
  fi
  if [[ -z $python ]] || ! timeout 90 "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' \
    >/dev/null 2>&1 </dev/null; then
    note PyTorch none "no Python with a PyTorch that can use the GPU (GPUNET_BENCH_PYTHON names one): only ours is measured"
  else
    options=(--python "$python")
  fi
  local seconds
  seconds=$(at_least_1 $(($(left) - 10)))  # it ends by itself before it would be cut
  within "$bench" --seconds "$seconds" --json "$build_dir/benchmarks.json" --markdown "$build_dir/benchmarks.md" \
    ${options[@]+"${options[@]}"} >"$build_dir/benchmarks.txt" 2>"$build_dir/benchmarks.log" || status=$?
  tell "" "$(grep -v '^measured: ' "$build_dir/benchmarks.txt")" ""
  head -c 5000 "$build_dir/benchmarks.log" >&2
  case $status in
    0) note benchmarks ok "every goal holds" ;;
    3) note benchmarks bad "not every goal holds, or not all was measured (see above)" ;;
    124 | 137)
      [[ ! -s $build_dir/benchmarks.md ]] || tell "$(<"$build_dir/benchmarks.md")"
      note benchmarks bad "CUT: the time was over" ;;
    *) note benchmarks bad "failed (status $status, see benchmarks.log)" ;;
  esac
}

# parts_json: the notes as JSON, with what was measured.
parts_json() {
  awk -F '\t' -v seconds="$SECONDS" -v gpu="${gpu:-}" '
    function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
    BEGIN { printf "{\"gpu\": %s, \"seconds\": %d, \"parts\": [", quoted(gpu), seconds }
    { printf "%s\n  {\"part\": %s, \"state\": %s, ", (NR == 1 ? "" : ","), quoted($1), quoted($2) }
    { printf "\"what\": %s}", quoted($3) }
    END { printf "\n], \"benchmarks\": " }' "$parts"
  if [[ -s $build_dir/benchmarks.json ]]; then cat "$build_dir/benchmarks.json"; else printf 'null'; fi
  printf '}\n'
}

# The verdict, whatever happened, and what goes to OUT.
finish() {
  local status=$? file
  trap - EXIT
  set +e
  tell "Verdict, after $SECONDS s:"
  awk -F '\t' '{ printf "  %-26s %-4s %s\n", $1, $2 == "none" ? "-" : $2, $3 }' "$parts" | tee -a "$report"
  if [[ $status != 0 ]]; then
    tell "NOT ALL OF IT RAN (status $status)."
  elif grep -q "$(printf '\t')bad$(printf '\t')" "$parts"; then
    tell "NOT EVERYTHING HOLDS."
    status=1
  elif grep -q "$(printf '\t')none$(printf '\t')" "$parts"; then
    tell "What was run holds; not everything could be run."
    status=1
  else
    tell "EVERYTHING HOLDS."
  fi
  if [[ -n ${OUT:-} ]]; then
    mkdir -p "$OUT"
    parts_json >"$OUT/gpu_check.json"
    for file in gpu_check.txt benchmarks.md build.log tests.log sanitizers.log answers.log benchmarks.log; do
      [[ ! -s $build_dir/$file ]] || head -c 15000000 "$build_dir/$file" >"$OUT/$file"
    done
    say "written: $OUT/gpu_check.json, $OUT/gpu_check.txt, logs"
  fi
  exit "$status"
}
