# The parts of gpu_check.sh except the benchmarks. Sourced after gpu_report.sh, not run. Each part reports its results with
# `note`; none of them ends the script.
# shellcheck shell=bash disable=SC2154  # build_dir, results, simulated come from gpu_check.sh

# Sets `gpu` (name, driver and compute capability) and `capability`; ends the script if there is no GPU.
require_gpu() {
  local gpus status=0
  gpu="a simulator" capability=
  [[ -z $simulated ]] || return 0
  gpus=$(timeout --kill-after=5 30 nvidia-smi -L 2>/dev/null) || status=$?
  if is_cut "$status"; then
    fail "gpu_check.sh: nvidia-smi -L did not end within 30 s (the driver hangs), restart the machine"
  elif [[ $status != 0 || $gpus != *GPU* ]]; then
    say "there is no GPU here (nvidia-smi -L shows none): nothing was done, --simulated does it without one"
    exit 77
  fi
  gpu=$(timeout 30 nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null |
    head -n 1) || true
  capability=${gpu##*, }
  capability=${capability/./}
  if [[ ! $capability =~ ^[0-9]+$ ]]; then
    gpu=${gpus%%$'\n'*}
    capability=
  fi
}

# With --simulated, lets programs that are started later load the simulator, and the stub of cuDNN if it was built.
use_simulator() {
  [[ -n $simulated ]] || return 0
  export LD_LIBRARY_PATH="$simulator:$build_dir/tests/cuda/cudnn_stub${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  export CUDASIM_ASYNC="${CUDASIM_ASYNC:-1}"
}

# Sets `program` to the probe, compiled if needed, and `nvcc` and `simulator`. False, with a note, if that cannot be.
prepare_probe() {
  local source=$root/scripts/gpu_probe.cu toolkit run_limit=60
  program=$results/probe_sm_${capability:-90}
  if ! find_nvcc; then
    note probe bad "found no nvcc in PATH or /usr/local/cuda/bin (it compiles for the GPU), install the CUDA toolkit"
    return 1
  fi
  simulator=
  if [[ -n $simulated ]] && { ! find_simulator || [[ -z $simulator ]]; }; then
    note probe bad "found no simulator, name the folder of its libraries in GPUNET_CUDA_SIMULATOR"
    return 1
  fi
  if [[ -x $program &&
    -z $(find "$source" "$root/include/gpunet" "$nvcc" "${BASH_SOURCE[0]}" -newer "$program" -print -quit) ]]; then
    return 0
  fi
  rm -f "$program"
  toolkit=$(realpath "$nvcc")
  toolkit=${toolkit%/bin/nvcc}
  if ! run_quietly "$results/probe.log" "compiling the probe" "$nvcc" -std=c++20 -O0 \
    "-arch=sm_${capability:-90}" -cudart shared "-I$root/include" "$source" -o "$program" -lcublas -lcublasLt \
    -Xlinker "-rpath=$toolkit/lib64:$toolkit/lib"; then
    note probe bad "nvcc could not compile scripts/gpu_probe.cu within $run_limit s (see above)"
    return 1
  fi
}

# Runs gpu_probe. False, with a note, if the GPU cannot be used.
run_probe() {
  local program=$results/probe_sm_${capability:-90} status=0 output step
  [[ -n $packed ]] || prepare_probe || return 1
  output=$(use_simulator && GPUNET_CUDA_CHECK=1 within "$program") || status=$?
  tell "$output"
  step=$(sed -n 's/^\([A-Za-z]*\): .*/\1/p' <<<"$output" | tail -n 1)
  if [[ $status == 142 ]]; then  # SIGALRM
    note probe bad "the step '$step' did not end within 60 s (the GPU or its driver hangs)"
  elif is_cut "$status"; then
    note probe bad "the program did not end within its time${step:+, its last step is $step}"
  elif [[ $status != 0 ]]; then
    note probe bad "${output##*$'\n'}"
  else
    note probe ok "$(paste -sd ';' <<<"$output" | sed 's/;/; /g')"
    return 0
  fi
  return 1
}

# Prints the time and size of each program that the other parts run.
stamp() {
  (cd "$build_dir" 2>/dev/null && stat -c '%n %Y %s' tests/cuda/gpunet_tests_cuda examples/[01]?_* \
    benchmarks/gpu/gpu_{bench,latency} 2>/dev/null)
}

run_build() {
  local status=0 targets=(gpu_bench gpu_latency) options=(-DGPUNET_WERROR="${GPUNET_WERROR:-OFF}") before
  local doctest=${DOCTEST_DIR:-} cudnn=${CUDNN_ROOT:-}
  doctest=${doctest:+$(realpath -m "$doctest")}
  cudnn=${cudnn:+$(realpath -m "$cudnn")}
  if [[ -n $simulated ]]; then
    options+=("-DGPUNET_CUDA_SIMULATOR=$simulator" "-DGPUNET_TEST_TIMEOUT=${GPUNET_TEST_TIMEOUT:-500}")
  else
    options+=("-DCMAKE_CUDA_ARCHITECTURES=${capability:+$capability-real}" "-DGPUNET_TEST_TIMEOUT=${GPUNET_TEST_TIMEOUT:-100}")
  fi
  options+=(-U 'GPUNET_CUDNN_*' -U CUDNN_ROOT)  # searched again: an earlier call may have named another folder
  if [[ -z $cudnn ]]; then
    tell "CUDNN_ROOT names no folder: cuDNN is used only where it is installed"
  elif [[ -e $cudnn/include/cudnn_version.h ]]; then
    options+=("-DCUDNN_ROOT=$cudnn")
  else
    note cuDNN bad "CUDNN_ROOT is $cudnn, which has no include/cudnn_version.h, name the folder nvidia/cudnn of its wheel"
  fi
  if [[ -n $doctest && -e $doctest/doctest/doctest.h ]] || { [[ -z $doctest ]] && is_here doctest; }; then
    targets+=(examples gpunet_tests_cuda)
    options+=(-DGPUNET_BUILD_TESTS=ON ${doctest:+"-DGPUNET_DOCTEST_DIR=$doctest"})
  else
    options+=(-DGPUNET_BUILD_TESTS=OFF)
    note build bad "found no doctest/doctest.h${doctest:+ in $doctest} (the tests are written with it), carry that header \
along and name the folder that holds doctest/ in DOCTEST_DIR"
  fi

  before=$(stamp)
  run_limit=$(at_least_1 "$(left)")
  configure "$build_dir" -DCMAKE_BUILD_TYPE=Release -DGPUNET_CUDA=ON -DGPUNET_BUILD_EXAMPLES=ON \
    -DGPUNET_BUILD_BENCHMARKS=ON -DGPUNET_RUN_DIR=../../../.. "${options[@]}" || status=$?
  if [[ $status == 0 ]]; then
    run_limit=$(at_least_1 "$(left)")
    build "$build_dir" "${targets[@]}" || status=$?
  elif ! is_cut "$status"; then
    note build bad "cmake could not configure (see above)"
    return
  fi
  if is_cut "$status"; then
    note build cut "$SECONDS s, $(steps_done)call it again, it continues"
  elif [[ $status != 0 ]]; then
    note build bad "failed (see above): $(grep -m 1 -oE '(error|fatal error|Error)[: ].*' "$build_dir/build.log")"
  else
    note build ok "$SECONDS s: ${targets[*]}"
  fi
  # Results of other programs are no longer valid.
  [[ $before == "$(stamp)" ]] || rm -f "$results"/{tests,lessons,sanitize,bench}.{notes,txt} \
    "$results"/{{tests,lessons}.entries,sanitized}
}
# Prints how far ninja came, by the "[12/90] " in its log.
steps_done() {
  sed -n '/Re-checking/d; s/^\[\([0-9]*\)\/\([0-9]*\)\].*/\1 of \2 steps done, /p' "$build_dir/build.log" | tail -n 1
}

# entries OPTION...: prints "NUMBER NAME" of each entry of ctest that the options select.
entries() {
  ctest --test-dir "$build_dir" -N "$@" 2>/dev/null | sed -n 's/^ *Test *#\([0-9]*\): \(.*\)$/\1 \2/p'
}
# of_part tests|lessons: prints the entries of a part, of the tests only entries that `only` matches. Left out:
# configurations and tests of a simulator, and entries that compile or that need programs of their own.
of_part() {
  case $1 in
    tests) entries -L '^cuda$' -LE '^(lesson|consumer|distributed)$' -E '^(cuda_ways|out_of_memory)/' ${only:+-R "$only"} ;;
    lessons) entries -L '^cuda$' -L '^lesson$' ;;
  esac
}
# Of "NUMBER NAME" lines those whose NAME is not in the first column of the file.
not_in() { awk -F '\t' '!entries { known[$1]; next } { split($0, word, " ") } !(word[2] in known)' "$1" entries=1 -; }

run_tests() { run_entries; }
run_lessons() { run_entries; }
# Runs the entries of the part that have no result yet.
run_entries() {
  local status=0 entries=$results/$part.entries log=$build_dir/$part.log total remaining numbers
  local at_once=${at_once:-6}  # a GPU serves a few programs at a time well
  [[ -z $simulated ]] || at_once=$(nproc)
  if [[ ! -x $build_dir/tests/cuda/gpunet_tests_cuda ]]; then
    note "$part" bad "there is no test program, run gpu_check.sh build first"
    return
  fi
  touch "$entries"
  total=$(of_part "$part")
  if [[ -z $total ]]; then
    note "$part" bad "ctest knows no tests in $build_dir"
    return
  fi
  if [[ -z $(not_in "$entries" <<<"$total") ]]; then : >"$entries"; fi
  [[ -s $entries ]] || : >"$log"
  remaining=$(not_in "$entries" <<<"$total")
  say "$part: $(wc -l <<<"$remaining") entries"
  numbers=$(cut -d ' ' -f 1 <<<"$remaining" | paste -sd ,)
  within ctest --test-dir "$build_dir" --parallel "$at_once" --verbose -I "0,0,0,$numbers" >"$log.now" 2>&1 || status=$?
  awk -v entries="$entries" -f "$root/scripts/count_tests.awk" "$log.now" >/dev/null
  cat "$log.now" >>"$log"
  remaining=$(not_in "$entries" <<<"$total")
  if [[ -n $remaining ]] && ! is_cut "$status"; then
    tail -n 5 "$log.now" >&2
    note "$part" bad "ctest ended with status $status before all tests were run (see above)"
    return
  fi
  note_tests "$remaining"
}

# note_tests REMAINING: notes the results of the entries that were run. On Cuda, a skipped entry found no device and tested
# nothing.
note_tests() {
  local counts remaining=0 bad
  [[ -z $1 ]] || remaining=$(wc -l <<<"$1")
  counts=$(awk -F '\t' '{ p += $3; f += $4; s += $5 }
    END { printf "%d passed, %d failed, %d skipped in %d entries", p, f, s, NR }' "$results/$part.entries")
  bad=$(awk -F '\t' -v limit="$(sed -n 's/^GPUNET_TEST_TIMEOUT:.*=//p' "$build_dir/CMakeCache.txt" 2>/dev/null)" '
    $2 == "failed" { print $1 "\t" $6 }
    $2 == "hung" { print $1 "\thung: did not end within " (limit ? limit " s" : "its time") }
    $2 == "skipped" && ($1 ~ /^(cuda|cudnn)\// || $6 ~ /no usable/) { print $1 "\tskipped on Cuda: " $6 }
    ' "$results/$part.entries")
  if [[ -n $bad ]]; then
    note "$part" bad "$counts; not right: $(wc -l <<<"$bad")$( ((remaining)) && echo ", not yet run: $remaining")"
    head -n 20 <<<"$bad" | while IFS=$'\t' read -r name why; do note "$name" bad "$why"; done
  elif [[ $remaining != 0 ]]; then
    note "$part" cut "$counts, $remaining not yet run: $(cut -d ' ' -f 2 <<<"$1" | head -n 5 | paste -sd ' ') ..."
  else
    note "$part" ok "$counts"
  fi
}

# The tests of our kernels that the sanitizers begin with.
chosen=(device/cuda_tiled_gemm device/cuda_gemm device/cuda_sum_each device/cuda_memory ops/conv2d/cuda
  ops/conv2d/cuda_block ops/linear/cuda ops/plain_cuda ops/cross_entropy/cuda nn/softmax nn/batch_norm nn/max_pool2d
  nn/avg_pool2d nn/dropout nn/normalization nn/embedding nn/recurrent nn/permute nn/upsample nn/padding
  train/steps_in_block data/batch_buffers_cuda)

# sanitize TOOL TEST: one tool over one entry of ctest; adds "TOOL TEST ok|bad CAUSE" to the file of results, or cut. A test is
# clean only if the tool says so, because a tool that cannot start may end with 0, too. Errors that CUDA calls return are not
# reported: our code checks each, and tests provoke some. The simulator checks every access itself.
sanitize() {
  local tool=$1 test=$2 status=0 log state=bad cause most run=()
  log=$build_dir/sanitized/$tool.${test//\//_}
  most=$(left)
  [[ $most -le 300 ]] || most=300
  case $tool in
    simulator) run=(env CUDASIM_SEED=1 CUDASIM_RESIDENT=4) ;;
    memcheck) run=(compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 99 --print-limit 20) ;;
    *) run=(compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 20) ;;
  esac
  cd "$build_dir/tests/cuda" || return
  GPUNET_TEST_NEEDS_CUDA=1 within_seconds "$most" "${run[@]}" "$build_dir/tests/cuda/gpunet_tests_cuda" \
    "--source-file=*tests/${test}_test.cpp" --case-sensitive '--test-case=*Cuda*' >"$log" 2>&1 || status=$?
  cause="status $status: $(grep -m 1 -E 'ERROR: |error|Invalid|hazard|Uninit|skipped, ' "$log" || tail -n 1 "$log")"
  if is_cut "$status"; then
    state=cut cause="no end within $most s"
  elif [[ $status == 0 ]] && grep -qE '^\[gpunet\] [1-9][0-9]* passed, 0 failed' "$log" &&
    { [[ $tool == simulator ]] || grep -qE 'SUMMARY: 0 (errors|hazards)' "$log"; }; then
    state=ok cause=
  fi
  printf '%s %s\t%s\t%s\n' "$tool" "$test" "$state" "$cause" >>"$results/sanitized"
}

# sanitizer_jobs TOOL...: "TOOL TEST" lines, the most important first.
sanitizer_jobs() {
  local all first rest tests tool test
  # cuda_launch makes a kernel fail on purpose.
  all=$(entries -L '^cuda$' | sed -nE 's/^[0-9]+ cuda\/((ops|nn|train|data|device|model|optim|tensor)\/)/\1/p' |
    grep -vx device/cuda_launch)
  first=$(printf '%s\n' "${chosen[@]}" | grep -xF -f <(echo "$all"))
  rest=$(grep -vxF -f <(echo "$first") <<<"$all")
  [[ -z $simulated ]] || rest=
  for tests in "$first" "$rest"; do
    for tool in "$@"; do
      for test in $tests; do echo "$tool $test"; done
    done
  done
}
# jobs_left STATE...: of "TOOL TEST" lines those that have no result, or one of these.
jobs_left() {
  awk -F '\t' -v states=" $* " '!jobs { if (!index(states, " " $2 " ")) known[$1]; next } !($1 in known)' \
    "$results/sanitized" jobs=1 -
}
# results_of TOOL STATE: how many.
results_of() { awk -F '\t' -v tool="$1 " -v state="$2" 'index($1, tool) == 1 && $2 == state' "$results/sanitized" | wc -l; }

run_sanitize() {
  local tools=(memcheck racecheck initcheck synccheck) parallel=6 running=0 jobs job tool state open
  if [[ ! -x $build_dir/tests/cuda/gpunet_tests_cuda ]]; then
    note sanitize bad "there is no test program, run gpu_check.sh build first"
    return
  elif [[ -n $simulated ]]; then
    tools=(simulator)
    parallel=$(nproc)
    use_simulator
    tell "compute-sanitizer needs a GPU and is left out: the simulator checks every access, and races by a random schedule"
  elif ! command -v compute-sanitizer >/dev/null; then
    note sanitize bad "found no compute-sanitizer in PATH (it comes with the CUDA toolkit), add its folder"
    return
  fi
  jobs=$(sanitizer_jobs "${tools[@]}")
  if [[ -z $jobs ]]; then
    note sanitize bad "ctest knows no tests in $build_dir"
    return
  fi
  mkdir -p "$build_dir/sanitized"
  touch "$results/sanitized"
  if [[ -z $(jobs_left cut <<<"$jobs") ]]; then
    rm -f "$build_dir/sanitized"/*
    : >"$results/sanitized"
  fi
  # Jobs that were cut run again, after those that never ran.
  while read -r job; do
    [[ $(left) -gt 0 ]] || break
    if [[ $running -ge $parallel ]]; then
      wait -n
      running=$((running - 1))
    fi
    # shellcheck disable=SC2086  # two words
    sanitize $job &
    running=$((running + 1))
  done <<<"$(jobs_left <<<"$jobs"; jobs_left cut <<<"$jobs" | grep -xF -f <(cut -f 1 "$results/sanitized"))"
  wait
  cat "$build_dir/sanitized"/* >"$build_dir/sanitizers.log"
  for tool in "${tools[@]}"; do
    state=ok
    [[ $(results_of "$tool" ok) != 0 ]] || state=none
    [[ $(results_of "$tool" bad) == 0 ]] || state=bad
    open=$(jobs_left cut <<<"$jobs" | sed -n "s/^$tool //p" | paste -sd ' ')
    note "$tool" "$state" "$(results_of "$tool" ok) tests clean, $(results_of "$tool" bad) with errors${open:+, not done: $open}"
  done
  awk -F '\t' '$2 == "bad"' "$results/sanitized" | head -n 20 | while IFS=$'\t' read -r job _ why; do
    note "$job" bad "$why"
  done
}

# The networks of the other jobs are too large for a simulator.
run_bench() {
  use_simulator
  if [[ -n $simulated ]]; then
    export GPUNET_BENCH_TINY=1
    bench_options+=(--job lenet_b4 --job iris)
    tell "only lenet_b4 and iris run on a simulator, whose times say nothing"
  fi
  run_benchmarks
}
