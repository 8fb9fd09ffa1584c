#!/usr/bin/env bash
# The part bench of gpu_check.sh with a fake gpu_bench: what it notes, and the tables that it puts into docs/gpu.md. And
# both sides of the benchmarks, and the tables, have the same jobs.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

copy_project
page=$project/docs/gpu.md
mkdir -p "$project/docs"

fake gpu_bench <<'END_FAKE'
echo "gpu_bench $*" >>"$calls"
while [[ $# -gt 0 ]]; do
  [[ $1 != --markdown ]] || printf '| %s |\n' "${table:-measured}" >"$2"
  shift
done
echo "PyTorch: ${pytorch:-PyTorch 2.0}"
echo "measuring: lenet_b4 exact"
echo "measuring: ${job:-vgg_b32 exact}"
[[ -z ${hangs:-} ]] || sleep 60
[[ -z ${crashes:-} ]] || kill -SEGV $$
echo "what it found"
echo "summary: tried=${tried:-17} compared=${compared:-17} wrong=${wrong:-0} left_out=0 ${goals:-goals_held=9 goals_missed=0 goals_unmeasured=0}"
[[ ${wrong:-0} == 0 ]]
END_FAKE
fake python3 <<<'exit 0'
unset GPUNET_BENCH_PYTHON GPUNET_BENCH_TINY

# bench: the part alone, with `markdown` and `time` from the environment; shows its notes last.
bench() {
  bash -c 'set -euo pipefail
    . "$0/scripts/lib.sh"
    . "$root/scripts/gpu_report.sh"
    . "$root/scripts/gpu_bench.sh"
    build_dir=$root/build results=$root/results part=bench deadline=${time:-30} bench_options=(--job lenet_b4)
    mkdir -p "$build_dir/benchmarks/gpu" "$results"
    [[ -n ${no_program:-} ]] || cp "$work/bin/gpu_bench" "$build_dir/benchmarks/gpu"
    : >"$results/bench.notes"
    run_benchmarks
    tr "\t" " " <"$results/bench.notes"' "$project"
}

no_program=yes run bench
check "without the program it says so" says "benchmarks none there is no program of the benchmarks"

run bench
check "where all is well correctness is" says "benchmarks ok 17 lines, 17 of them beside PyTorch, 0 wrong, 0 left out"
check "and so are the goals" says "goals ok 9 hold, 0 do not, 0 not measured"
check "what it found is shown" says "what it found"
check "but not what scripts read" silent_about "summary:"
check "PyTorch is the opponent" called "--python $work/bin/python3"
check "it ends by itself before it is cut" called "gpu_bench --seconds 1"
check "with the options of the caller" called "--job lenet_b4"

goals='goals_held=5 goals_missed=3 goals_unmeasured=1' run bench
check "a missed goal is no failure of correctness" says "benchmarks ok"
check "and is said apart" says "goals none 5 hold, 3 do not, 1 not measured"
goals='goals_held=0 goals_missed=0 goals_unmeasured=0' run bench
check "no goals at all do not hold" says "goals none 0 hold"

wrong=1 run bench
check "a wrong loss is a failure" says "benchmarks bad 17 lines, 17 of them beside PyTorch, 1 wrong, 0 left out (see above)"
check "whatever the goals" says "goals ok 9 hold"

tried=0 compared=0 run bench
check "without time for a line nothing was measured" says "benchmarks none 0 lines"

crashes=yes job='vgg_b256 tf32' run bench
check "a crash is a failure and names the job" says "benchmarks bad failed with status 139 at vgg_b256 tf32"
check "the tables so far are shown" says "| measured |"
check "goals are not measured then" says "goals none not measured to the end"
time=2 hangs=yes job='iris exact' run bench
check "a hang is one too" says "benchmarks bad CUT: the time was over and it did not end by itself (it hung at iris exact)"

pytorch='none (a reason)' compared=0 run bench
check "without PyTorch it says why" says "PyTorch none only ours is measured (a reason)"
check "and ours counts" says "benchmarks ok 17 lines, 0 of them beside PyTorch"

# The tables of docs/gpu.md.
begin='<!-- gpu_bench: begin (scripts/gpu_check.sh bench --markdown writes what is between) -->'
end='<!-- gpu_bench: end -->'
printf '%s\n' 'before' '' "$begin" 'old' 'older' "$end" '' 'after' >"$page"
printf '%s\n' 'before' '' "$begin" '' '| measured |' '' "$end" '' 'after' >"$work/expected"
cp "$page" "$work/page"
run bench
check "without being asked it leaves docs/gpu.md alone" cmp "$page" "$work/page"
GPUNET_BENCH_TINY=1 markdown=yes run bench
check "and with the times of a simulator" cmp "$page" "$work/page"
check "which it says" says "times of a simulator are meaningless"
markdown=yes run bench
check "it replaces what is between the markers, and nothing else" cmp "$page" "$work/expected"
check "and says so" says "docs/gpu.md has the tables now."
markdown=yes run bench
check "the same once more changes nothing" cmp "$page" "$work/expected"
table='measured anew' markdown=yes run bench
check "other tables take their place" grep -qx '| measured anew |' "$page"
check "alone" test "$(grep -c '^| ' "$page")" = 1

for broken in "$begin" "$end" "$end|$begin" "$begin|$begin|$end" "$begin|$end|$end" 'neither'; do
  tr '|' '\n' <<<"$broken" >"$page"
  cp "$page" "$work/page"
  markdown=yes run bench
  check "a page with markers '$broken' is refused" says "docs/gpu.md bad the tables could not be filled in"
  check "with the reason" says "want one line '<!-- gpu_bench: begin"
  check "and is as it was" cmp "$page" "$work/page"
done

cp "$work/expected" "$page"
echo '| from elsewhere |' >"$work/goals.md"
echo '| the rest |' >"$work/rest.md"
printf '%s\n' 'before' '' "$begin" '' '| from elsewhere |' '' '| the rest |' '' "$end" '' 'after' >"$work/both"
run "$project/scripts/gpu_bench.sh" "$work/goals.md"
check "tables of another machine can be filled in" grep -qx '| from elsewhere |' "$page"
run "$project/scripts/gpu_bench.sh" "$work/goals.md" "$work/rest.md"
check "also those of two calls" cmp "$page" "$work/both"
run "$project/scripts/gpu_bench.sh" "$work/nothing.md"
check "there have to be some" says "there are no tables in $work/nothing.md"
check "else it is an error" ended_with 1
run "$project/scripts/gpu_bench.sh"
check "and a file has to be named" says "no arguments (want bench.md of gpu_check.sh, or goals.md and rest.md of gpu_device.sh)"

# The jobs, one in each line of the list in jobs.cpp; `true)` at its end: in tf32 too.
jobs=$root/benchmarks/gpu/jobs.cpp
list() { sed -n '/list{/,/};/p' "$jobs" | grep '"'; }
names() { sed -E 's/^[^"]*"([a-z0-9_]+)".*/\1/'; }
run list
check "there are jobs" says '"lenet_b4"'

run diff <(list | names) \
  <(sed -n '/^CUDA_JOBS/,/^}/p' "$root/benchmarks/opponent_cuda.py" | grep -oE '^    "[a-z0-9_]+"' | tr -d '" ')
check "both sides have the same jobs" ended_with 0

# table Without|With: the lines "JOB PRECISION" of the tables of docs/gpu.md without cuDNN or with it, sorted; measurements of two
# machines have two of each.
table() {
  sed -n '/^<!-- gpu_bench: begin/,/^<!-- gpu_bench: end/p' "$root/docs/gpu.md" |
    awk -F '[| ]+' -v which="$1" '/^With/ { at = $1 } /^\|/ && !/^\| job |^\|-/ && at == which { print $2, $3 }' | sort
}
# lines: the same of the jobs on standard input.
lines() { awk '{ job = $0; sub(/^[^"]*"/, "", job); sub(/".*/, "", job); print job, "exact" } /true\),$/ { print job, "tf32" }' | sort; }
run diff <(list | lines) <(table Without)
check "docs/gpu.md has a line for each job and precision" ended_with 0
run diff <(list | grep VggNet | lines) <(table With)
check "and one with cuDNN for those with large convolutions" ended_with 0
check "there are tf32 lines" grep -qx 'vgg_b256 tf32' <(table Without)

finish
