# Building and testing in several ways, with one count over all of it. Sourced after lib.sh, not run.
# shellcheck shell=bash

# One line "passed failed skipped" for each ctest run. A script that was started by another one with a tally adds to that.
tally=${GPUNET_TALLY:-$(mktemp)}

# count_tests: reads ctest's log and prints "passed failed skipped". An entry that is a doctest program counts as its
# test cases ("[gpunet] 3 passed, ..."), any other one as one test, and so does a program that broke off.
count_tests() {
  awk '
    /^[0-9]+\/[0-9]+ Test: / { counted = 0; p = f = s = 0 }
    /^\[gpunet\] [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { counted = 1; p = $2; f = $4; s = $6 }
    /^Test (Passed|Failed|Skipped)\.$/ || /^Test Skipped/ {
      if ($2 ~ /^Passed/) passed += counted ? p : 1
      else if ($2 ~ /^Skipped/) skipped += counted ? s : 1
      else { passed += p; failed += f ? f : 1 }
      if ($2 !~ /^Skipped/) skipped += s
    }
    END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}
