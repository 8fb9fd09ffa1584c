# Runs tests in several configurations and adds up the counts. Sourced after lib.sh, not run.
# shellcheck shell=bash

# One line "passed failed skipped" per configuration. A script that another script with a tally starts adds to that tally.
tally=${GPUNET_TALLY:-$(mktemp)}

use_real_data

# slowest WHAT: of lines "SECONDS NAME", prints the ten with the most seconds.
slowest() {
  local lines
  # awk reads all lines: sort would end with an error if nobody did.
  lines=$(sort -rn | awk 'NR <= 10 { printf "%8.1f s  %s\n", $1, $2 }')
  [[ -z $lines ]] || printf 'gpunet: the slowest %s:\n%s\n' "$1" "$lines" >&2
}

# built_since LINE BUILD_DIR: lines "SECONDS NAME" of what ninja has built, from that line of its log on.
built_since() {
  [[ -e $2/.ninja_log ]] || return 0
  tail -n "+$1" "$2/.ninja_log" | awk '!/^#/ { sub(/CMakeFiles\/[^\/]*\.dir\//, "", $4); print ($2 - $1) / 1000, $4 }'
}

# tested LOG: lines "SECONDS NAME" of the tests in a log of ctest.
tested() {
  awk 'match($0, /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /) { print $(NF - 1), substr($0, RLENGTH + 1) }' "$1"
}

# unfinished LOG: the names of the tests that a log of ctest begins and does not end.
unfinished() {
  awk 'match($0, /^ *Start +[0-9]+: /) { begun[substr($0, RLENGTH + 1)] }
    match($0, /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /) { name = substr($0, RLENGTH + 1); sub(/ .*/, "", name); delete begun[name] }
    END { for (name in begun) print "  " name }' "$1"
}

# test_way PRESET TARGETS LABELS [OPTION...]: configures the preset with the options of cmake, builds the targets
# (words; "" is all), and runs the tests whose labels match the expression. A configuration that cannot be built, or in
# which no test runs, counts as a failure; the next one still runs. At GPUNET_DEADLINE a configuration is cut, which is a failure.
test_way() {
  local preset=$1 targets=$2 labels=$3 build=$root/build/$1 counts start limit line status=0
  shift 3
  line=$(($(wc -l 2>/dev/null <"$build/.ninja_log" || echo 0) + 1))
  # shellcheck disable=SC2086  # the targets are words
  if ! configure "$build" --preset "$preset" "-DGPUNET_WERROR=${GPUNET_WERROR:-OFF}" "$@" ||
    ! build "$build" $targets; then
    echo 0 1 0 >>"$tally"
    return
  fi

  start=$SECONDS
  limit=$(seconds_left)
  printf 'gpunet: testing %s ... ' "$preset" >&2
  # 300 s are for the tests that set no time of their own. The scripts that tests run have no deadline.
  with_progress "$build/test.log" ${limit:+timeout --kill-after=5 "$limit"} env -u GPUNET_DEADLINE \
    ctest --test-dir "$build" --parallel "$(nproc)" --timeout 300 --verbose -L "$labels" || status=$?
  counts=$(awk -f "$root/scripts/count_tests.awk" "$build/test.log" 2>"$build/test_notes.log")
  [[ $counts != "0 0 0" ]] || counts="0 1 0"
  # shellcheck disable=SC2086  # three words
  printf '%d passed, %d failed, %d skipped, %d s\n' $counts $((SECONDS - start)) >&2
  cat "$build/test_notes.log" >&2
  echo "$counts" >>"$tally"
  if [[ -n $limit && ($status == 124 || $status == 137) ]]; then
    printf 'gpunet: the time of all phases is over; these tests were running:\n%s\n' "$(unfinished "$build/test.log")" >&2
    echo 0 1 0 >>"$tally"
  fi
  built_since "$line" "$build" | slowest "to build in $preset"
  tested "$build/test.log" | slowest "tests in $preset"
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
