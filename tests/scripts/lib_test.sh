#!/usr/bin/env bash
# scripts/lib.sh: the progress and the failures of long commands; and the refusals of scripts/bare.sh.
set -euo pipefail
. "$(dirname "$0")/testing.sh"
copy_project
. "$project/scripts/lib.sh"

# log NAME: a log of standard input.
log() { cat >"$work/$1"; }

{
  for ((i = 1; i <= 300; ++i)); do echo "[$i/400] Building CXX object good_$i.o"; done
  echo 'FAILED: bad.o'
  echo "g++ a long command line"
  echo 'bad.cpp:1:1: error: no such thing'
  echo '[302/400] Building CXX object later.o'
} | log ninja
run print_failure "$work/ninja"
check "the first error is shown" says 'bad.cpp:1:1: error: no such thing'
check "without the command line" silent_about 'a long command line'
check "and nothing before or after it" test "$(wc -l <<<"$output")" = 2

for ((i = 1; i <= 100; ++i)); do echo "line $i"; done | log plain
run print_failure "$work/plain"
check "a log without an error is shown from its end" says $'line 99\nline 100'
check "in 40 lines" test "$(wc -l <<<"$output")" = 40
: | log empty
run print_failure "$work/empty"
check "an empty log shows nothing" test "$status $output" = "0 "

# steps FORMAT COUNT: prints a line for each step, with a pause in the middle.
steps() {
  for ((i = 1; i <= $2; ++i)); do
    # shellcheck disable=SC2059  # a format
    printf "$1\n" "$i" "$2"
    [[ $i != $(($2 / 2)) ]] || sleep 2.2
  done
}
run run_quietly "$work/log" "working" steps '[%d/%d] Building' 50
check "ninja's progress is shown" says "working ... 10 % 20 % 30 % 40 % 50 % "
run with_progress "$work/log" steps ' %d/%d Test  #1: name .. Passed' 40
check "ctest's too" says "10 % 20 % 30 % 40 % 50 %"
run run_quietly "$work/log" "failing" false
check "a failure keeps its status" ended_with 1
check "and names its log" says "failing failed, its first error is above, its log is $work/log"

refuses() { # refuses WORDS ARGUMENT...
  local words=$1
  shift
  run "$project/scripts/bare.sh" "$@"
  check "bare.sh $* is refused" says "$words"
  check "with an error" ended_with 1
}
refuses "bare.sh: unknown option --fast, see --help" --fast
refuses "bare.sh: --with wants a value" --with
refuses "bare.sh: more than one command, quote it" ls /
fake id <<<'echo 1000'
run "$project/scripts/bare.sh"
check "bare.sh needs root" says "no bare system here: it needs root"
check "and says so by its status" ended_with 77

finish
