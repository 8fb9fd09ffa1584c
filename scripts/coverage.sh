#!/usr/bin/env bash
# coverage.sh [--report]: compiles the tests of Host with clang++ so that they count what they run (build/coverage), runs them, and
# prints the share of the lines of include/gpunet and of the branches of its readers, io/ and data/. With --report, only
# evaluates the last run. Fails below 95 %. Needs clang++, llvm-cov and llvm-profdata of one version (Debian: clang, llvm, and
# libclang-rt-dev), which it installs. Takes about half an hour on two cores; not part of CI.
#
# A line counts if a program on Host may run it: what is compiled for Cuda only does not. A branch is an outcome, true or
# false, of a condition in the source. The way out of a call by an exception is none, and neither is require(), whose
# conditions are evaluated in one place. Of a template the instantiation counts that was run most.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
least=95

[[ $# == 0 || ($# == 1 && $1 == --report) ]] || fail "coverage.sh: unknown arguments '$*', want nothing or --report"

# llvm_tool NAME: prints the program of the version of clang++.
llvm_tool() {
  local version
  version=$(clang++ -dumpversion)
  command -v "$1-${version%%.*}" || command -v "$1" || fail "there is no $1 of version ${version%%.*}, install llvm"
}

need clang++ cmake ninja doctest
need clang-sanitizers  # the same package has the library that counts
is_here llvm-cov || need llvm
cov=$(llvm_tool llvm-cov)
merge=$(llvm_tool llvm-profdata)

# The tests of Host, and those in which system calls fail.
programs=(gpunet_tests gpunet_faults)
labels='^(host|faults)$'
build=$root/build/coverage
profiles=$build/profiles
if [[ ${1:-} != --report ]]; then
  configure "$build" --preset coverage
  build "$build" "${programs[@]}" gpunet_crash  # another test of the same label
  use_real_data
  rm -rf "$profiles"
  # Processes of one test program add up in a few files.
  LLVM_PROFILE_FILE=$profiles/%4m.profraw run_quietly "$build/test.log" "running the tests of Host" \
    ctest --test-dir "$build" -L "$labels" -j "$(nproc)" --output-on-failure
fi
"$merge" merge -sparse "$profiles"/*.profraw -o "$build/all.profdata"

binaries=("$build/tests/gpunet_tests" -object "$build/tests/faults/gpunet_faults")

# summary FOLDER...: the last line of llvm-cov's table.
summary() {
  "$cov" report "${binaries[@]}" -instr-profile="$build/all.profdata" "$@" | tail -n 1
}
headers=$root/include/gpunet
lines=$(summary "$headers" | awk '{ print $10 }')
branches=$(summary "$headers/io" "$headers/data" | awk '{ print $13 }')
line_counts=$(summary "$headers" | awk '{ print $8 - $9, "of", $8 }')
branch_counts=$(summary "$headers/io" "$headers/data" | awk '{ print $11 - $12, "of", $11 }')

"$cov" export "${binaries[@]}" -instr-profile="$build/all.profdata" -format=lcov "$headers" |
  awk -F '[:,]' -v folder="$root/" '
    /^SF:/ { file = $2; sub("^" folder, "", file) }
    /^DA:/ && $3 == 0 { print file ":" $2 }' >"$build/uncovered.txt"
"$cov" report "${binaries[@]}" -instr-profile="$build/all.profdata" "$headers" >"$build/files.txt"

say "lines that no test runs are in $build/uncovered.txt, a table of the files in $build/files.txt"
echo "lines of include/gpunet: $lines ($line_counts)"
echo "branches of io/ and data/: $branches ($branch_counts)"
awk -v lines="${lines%\%}" -v branches="${branches%\%}" -v least=$least 'BEGIN { exit !(lines >= least && branches >= least) }' ||
  fail "less than $least % is tested, add tests for what the lists name"
