# Runs tests in several configurations and adds up the counts. Sourced after lib.sh, not run.
# shellcheck shell=bash

# One line "passed failed skipped" per configuration. A script that another script with a tally starts adds to that tally.
tally=${GPUNET_TALLY:-$(mktemp)}

use_real_data

# test_way PRESET TARGETS LABELS [OPTION...]: configures the preset with the options of cmake, builds the targets
# (words; "" is all), and runs the tests whose labels match the expression. A configuration that cannot be built, or in
# which no test runs, counts as a failure; the next one still runs.
test_way() {
  local preset=$1 targets=$2 labels=$3 build=$root/build/$1 counts start
  shift 3
  # shellcheck disable=SC2086  # the targets are words
  if ! configure "$build" --preset "$preset" "-DGPUNET_WERROR=${GPUNET_WERROR:-OFF}" "$@" ||
    ! build "$build" $targets; then
    echo 0 1 0 >>"$tally"
    return
  fi

  start=$SECONDS
  printf 'gpunet: testing %s ... ' "$preset" >&2
  ctest --test-dir "$build" --parallel "$(nproc)" --verbose -L "$labels" >"$build/test.log" 2>&1 </dev/null || true
  counts=$(awk -f "$root/scripts/count_tests.awk" "$build/test.log" 2>"$build/test_notes.log")
  [[ $counts != "0 0 0" ]] || counts="0 1 0"
  # shellcheck disable=SC2086  # three words
  printf '%d passed, %d failed, %d skipped, %d s\n' $counts $((SECONDS - start)) >&2
  cat "$build/test_notes.log" >&2
  echo "$counts" >>"$tally"
}

# Prints the closing line, unless a calling script adds up the counts. False if a test failed or none ran.
finish_tally() {
  local total
  total=$(awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped", p, f, s }' "$tally")
  if [[ -z ${GPUNET_TALLY:-} ]]; then
    rm -f "$tally"
    echo "$total"
  fi
  [[ $total == *" 0 failed"* && $total != "0 passed"* ]]
}
