#!/usr/bin/env bash
# scripts/fuzz.sh as on a machine that has everything: cmake and the targets only note what they are called with.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

copy_project
cp "$root/CMakePresets.json" "$project"
mkdir -p "$project/tests/fuzz/targets" "$project/tests/fuzz/dictionaries"
touch "$project"/tests/fuzz/targets/{json,zip}.cpp "$project/tests/fuzz/dictionaries/zip.dict"
for command in clang++ ninja apt-get; do fake "$command" <<<'exit 0'; done
fake cmake <<'END_OF_CMAKE'
echo "cmake $*" >>"$calls"
[[ $1 == --build ]] || exit 0
mkdir -p "$2/tests/fuzz"
for program in gpunet_fuzz_replay fuzz_json fuzz_zip; do cp "$work/bin/program" "$2/tests/fuzz/$program"; done
END_OF_CMAKE
fake program <<'END_OF_PROGRAM'
echo "${0##*/} $*" >>"$calls"
echo "stat::number_of_executed_units: 1234"
[[ ${0##*/} != fuzz_zip ]] || echo "fuzz: 56 files"
[[ ${0##*/} == "fuzz_${bad_target:-}" && ( $* == *max_total_time* || -z ${busy:-} ) ]] || exit 0
echo "SUMMARY: AddressSanitizer: heap-buffer-overflow zip.hpp:7"
echo "artifact_prefix='x/'; Test unit written to /findings/crash-1"
exit 77
END_OF_PROGRAM
fuzz=$project/scripts/fuzz.sh

for arguments in '' 0 ten --runs '--runs x'; do
  # shellcheck disable=SC2086  # words
  run "$fuzz" $arguments
  check "'$arguments' is no amount" says "want fuzz.sh SECONDS [TARGET...], or fuzz.sh --runs N [TARGET...]"
  check "and an error" ended_with 1
done
run "$fuzz" 10 json tar
check "a target that there is not is an error" says "unknown target 'tar', want some of json zip"
check "before anything is built" not_called cmake

run "$fuzz" 10
check "no finding ends well" ended_with 0
check "each target says how many inputs it had" says "json: 1234 inputs in "
check "all of them, and what they counted" says "zip: 1234 inputs, 56 files in "
check "each has its share of the time" called "fuzz_json -max_total_time=5 -max_len=4096 -rss_limit_mb=2048 -timeout=25"
check "and seeds" called "gpunet_fuzz_replay zip --write $project/build/fuzz/seeds/zip"
check "and its dictionary" called "-dict=$project/tests/fuzz/dictionaries/zip.dict $project/build/fuzz/corpus/zip"

forget
run "$fuzz" --runs 500 zip
check "a number of inputs instead of a time" called "fuzz_zip -runs=500 "
check "of the target that is named" not_called fuzz_json

run env bad_target=json "$fuzz" 1
check "a finding is an error" ended_with 1
check "it is said what it is" says "json: a finding after 1234 inputs: SUMMARY: AddressSanitizer: heap-buffer-overflow"
check "and how to see it again" says "reproduce it: $project/build/fuzz/tests/fuzz/fuzz_json /findings/crash-1"
check "the others go on" says "zip: 1234 inputs, "
check "it comes back when it is run alone" silent_about "is no finding"

run env bad_target=json busy=yes "$fuzz" 1
check "what does not come back is said, too" says "alone, this input is not a finding"
check "and is an error: the target did not have its inputs" ended_with 1

finish
