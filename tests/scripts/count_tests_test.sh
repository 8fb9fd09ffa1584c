#!/usr/bin/env bash
# scripts/count_tests.awk on a log of ctest with every kind of end, and on an empty one.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

count() { awk -v entries="${entries:-}" -f "$root/scripts/count_tests.awk" "$1" 2>"$work/notes"; }

cat >"$work/log" <<'END'
test 1
1: Test command: program
1: [gpunet] 3 passed, 0 failed, 1 skipped
 1/8 Test  #1: host/one ......................   Passed    0.01 sec
2: a reason
2: x_test.cpp:7: ERROR: test case THREW exception: CUDA error: out of memory
3: x_test.cpp:5: MESSAGE: skipped: no data
 2/8 Test  #2: host/two ......................***Failed    0.01 sec
3: [gpunet] 2 passed, 1 failed, 1 skipped
 3/8 Test  #3: host/three ....................***Failed    0.01 sec
 4/8 Test  #4: rules/four ....................   Passed    0.01 sec
5: [gpunet] 0 passed, 0 failed, 5 skipped
6: no tool for six
 5/8 Test  #5: cuda/five .....................***Skipped   0.01 sec
 6/8 Test  #6: rules/six .....................***Skipped   0.01 sec
 7/8 Test  #7: host/seven ....................***Exception: SegFault  0.01 sec
 8/8 Test #8: host/a_name_of_the_whole_width ..***Timeout   0.01 sec
END
run count "$work/log"
check "each kind of end is counted" test "$output" == "6 4 8"
run cat "$work/notes"
check "a failure is named with its output" says $'failed: host/two\n    a reason'
check "a crash is named" says "failed: host/seven"
check "a reason to skip is told" says "MESSAGE: skipped: no data"
check "or else what the test has printed" says $'skipped: rules/six (1)\n    no tool for six'
check "a pass is not named" silent_about "rules/four"

entries=$work/entries run count "$work/log"
run cat "$work/entries"
check "each test is a line of the file that is asked for" test "$(wc -l <"$work/entries")" == 8
check "with its state and counts" says $'host/one\tok\t3\t0\t1\t'
check "with the cause of a failure" says $'host/two\tfailed\t0\t1\t0\ttest case THREW exception: CUDA error: out of memory'
check "or how it ended" says $'host/seven\tfailed\t0\t1\t0\tException: SegFault'
check "or that it did not end" says $'host/a_name_of_the_whole_width\thung\t0\t1\t0\tTimeout'

: >"$work/empty"
run count "$work/empty"
check "an empty log counts nothing" test "$output" == "0 0 0"

finish
