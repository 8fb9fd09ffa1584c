#!/usr/bin/env bash
# scripts/gpu_check.sh as on machines with a GPU and without: nvidia-smi, nvcc, cmake, ctest, compute-sanitizer, Python and
# the programs that are built are fakes.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

copy_project
. "$root/tests/scripts/gpu_fakes.sh"
mkdir -p "$work/cudnn/include" "$work/simulator"
touch "$work/cudnn/include/cudnn_version.h"
check_gpu=$project/scripts/gpu_check.sh
build=$project/build/gpu
out=$work/out

run "$check_gpu" --help
check "--help shows the parts" says "sanitize   compute-sanitizer"
check "and ends well" ended_with 0
run "$check_gpu" measure
check "an unknown part is an error" says "unknown argument 'measure', want probe, build, tests, lessons, sanitize, bench or all"
run "$check_gpu" build --seconds soon
check "so is a time that is no number" says "--seconds is 'soon', want a number of seconds"

no_gpu=yes run "$check_gpu" all
check "without a GPU it says so" says "there is no GPU here"
check "ends as skipped" ended_with 77
check "and builds nothing" not_called cmake

# The probe, which comes before everything else.
run "$check_gpu" probe
check "the probe alone ends well" ended_with 0
check "it says what it found" says "memory: enough"
check "it is compiled for that GPU" called "-arch=sm_90"
check "and nothing is built" not_called cmake
forget
run "$check_gpu" probe
check "it is run each time" called probe
check "and compiled once" not_called nvcc
for part in build tests lessons sanitize bench all; do
  no_memory=yes run "$check_gpu" "$part"
  check "without memory, $part stops there" says "bad  memory: CUDA error: out of memory"
  check "with an error" ended_with 1
  no_kernel=yes run "$check_gpu" "$part"
  check "where kernels are refused, $part stops there" says "bad  kernel: CUDA error: no kernel image"
  check "with an error too" ended_with 1
done
check "before any build" not_called cmake
hanging_kernel=yes run "$check_gpu" tests
check "the step that hangs is named" says "the step 'kernel' did not end within 60 s"
rm "$build.check/probe_sm_90"
broken_nvcc=yes run "$check_gpu" tests
check "an nvcc that does not work shows" says "the words of nvcc"
check "in the verdict too" says "nvcc could not compile scripts/gpu_probe.cu"

run "$check_gpu" tests
check "tests come after build" says "there is no test program, run gpu_check.sh build first"
check "or end with an error" ended_with 1

# One part after the other.
DOCTEST_DIR=$work/elsewhere run "$check_gpu" build
check "doctest has to be carried along" says "found no doctest/doctest.h in $work/elsewhere"
check "which is an error" ended_with 1
CUDNN_ROOT=$work run "$check_gpu" build
check "so is a CUDNN_ROOT without cuDNN" says "CUDNN_ROOT is $work, which has no include/cudnn_version.h"
forget
slow_build=yes run "$check_gpu" build --seconds 3
check "a build that takes too long is cut" says "build                      cut"
check "and says how far it came" says "3 of 9 steps done, call it again, it continues"
check "with a status of its own" ended_with 75
slow_build=yes run "$check_gpu" all --seconds 3
check "and the parts after it are not begun" silent_about "there is no test program"
CUDNN_ROOT=$work/cudnn GPUNET_TEST_TIMEOUT=30 run "$check_gpu" build
check "the second call builds the rest" ended_with 0
check "for that GPU" called "-DCMAKE_CUDA_ARCHITECTURES=90-real"
check "with the doctest that was named" called "-DGPUNET_DOCTEST_DIR=$work"
check "and that cuDNN" called "-DCUDNN_ROOT=$work/cudnn"
check "each test may take its time" called "-DGPUNET_TEST_TIMEOUT=30"
check "lessons included" called "--target gpu_bench gpu_latency examples gpunet_tests_cuda"
check "what was not run yet is said" says "not run yet: tests lessons sanitize bench"

forget
slow_test=cuda/ops/two run "$check_gpu" tests --seconds 3
check "tests that take too long are cut, those that ended stay" says "7 passed, 0 failed, 1 skipped in 1 entries, 1 not yet run"
check "the others are named" says "cuda/ops/two"
check "with the status of a cut" ended_with 75
forget
run "$check_gpu" tests
check "the second call continues" says "tests                      ok   14 passed, 0 failed, 2 skipped in 2 entries"
check "with those that were not run" called "-I 0,0,0,2"
run "$check_gpu" lessons
check "lessons are a part of their own" says "lessons                    ok   7 passed, 0 failed, 1 skipped in 1 entries"
forget
rm -f "$work/pid"
set -m
slow_test=cuda/ops/linear/cuda "$check_gpu" tests >"$work/interrupted.txt" 2>&1 &
script=$!
set +m
until [[ -s $work/pid ]]; do sleep 0.05; done
seconds=$SECONDS
kill -INT -- "-$script"  # as the terminal does on Ctrl-C
status=0
wait "$script" || status=$?
output=$(<"$work/interrupted.txt")
check "Ctrl-C ends it" ended_with 130
check "with a verdict" says "NOT ALL OF IT RAN (status 130)"
check "immediately" test $((SECONDS - seconds)) -lt 10
check "with all that it started" absent "/proc/$(<"$work/pid")"
forget
failing_test=cuda/ops/linear/cuda hung_test=cuda/ops/two run "$check_gpu" tests
check "after all of them it begins anew" called "-I 0,0,0,1,2"
check "a failing test and its cause are in the verdict" \
  says "cuda/ops/linear/cuda       bad  test case THREW exception: CUDA error: out of memory"
check "and one that hung" says "cuda/ops/two               bad  hung: did not end within 100 s"
check "with an error at the end" ended_with 1
broken_ctest=yes run "$check_gpu" tests
check "a ctest that does not run them is an error" says "bad  ctest ended with status 1 before all tests were run"
check "with its words" says "the words of ctest"
check "and an error" ended_with 1
skipped_test=cuda/ops/two run "$check_gpu" tests
check "a test on Cuda that was skipped is not well" says "cuda/ops/two               bad  skipped on Cuda: skipped, no usable"
check "and an error" ended_with 1
run "$check_gpu" tests
check "what is mended is no longer in the verdict" silent_about "cuda/ops/two               bad"

forget
run "$check_gpu" sanitize
check "the sanitizers end well" ended_with 0
check "over all tests" says "2 tests clean, 0 with errors"
for tool in memcheck racecheck initcheck synccheck; do
  check "$tool is one" called "compute-sanitizer --tool $tool"
done
dirty=ops/two run "$check_gpu" sanitize
check "errors that a tool finds count" says "1 tests clean, 1 with errors"
check "and are named with their cause" says "memcheck ops/two           bad  status 99: ========= Invalid __global__ read"
check "as an error" ended_with 1
no_begin=yes run "$check_gpu" sanitize
check "a tool that could not begin has not passed" says "0 tests clean, 2 with errors"
check "with its words" says "racecheck ops/two          bad  status 0: Device not supported"
slow_race=two_test run "$check_gpu" sanitize --seconds 4
check "what the time did not suffice for is listed" says "1 tests clean, 0 with errors, not done: ops/two"
check "and is no failure" ended_with 0
forget
run "$check_gpu" sanitize
check "the next call continues with it" called "--tool racecheck"
check "and nothing else" not_called "--tool memcheck"
check "to the end" says "racecheck                  ok   2 tests clean, 0 with errors"

OUT=$out run "$check_gpu" bench
check "PyTorch is the opponent" called "--python $work/bin/python3"
check "the table is printed" says "the table"
check "now all parts are known and hold" says "EVERYTHING HOLDS."
check "and it ends well" ended_with 0
check "the table goes to OUT" grep -q "the table" "$out/gpu_check.txt"
check "with the parts of all calls as JSON" grep -q '{"part": "memcheck", "state": "ok", "what": "2 tests clean' "$out/gpu_check.json"
check "and the jobs" grep -q '"bench": {"jobs": \[\]}' "$out/gpu_check.json"
check "and the logs" test -s "$out/sanitizers.log"
no_torch=1 run "$check_gpu" bench
check "without PyTorch it goes on" says "only ours is measured"
check "but does not say that everything holds" says "What was run holds; not everything could be run."
mkdir "$project/docs"
printf '%s\n' '<!-- gpu_bench: begin -->' '<!-- gpu_bench: end -->' >"$project/docs/gpu.md"
goals_missed=1 run "$check_gpu" bench --markdown
check "goals are apart from whether it ran" says "benchmarks                 ok"
check "and no error" ended_with 0
check "the tables are in docs/gpu.md where that is asked for" grep -qx "the table so far" "$project/docs/gpu.md"
run "$check_gpu" probe
check "another part then does not say that everything holds" says "What was run now holds."
slow_bench=yes OUT=$out run "$check_gpu" bench --seconds 3
check "benchmarks that take too long are cut" says "CUT: the time was over"
check "their table so far stays" grep -q "the table so far" "$out/bench.md"

# All in one call, and on other programs nothing is known of the tests.
broken_bench=yes run "$check_gpu" build
check "what does not compile shows" says "error: the compiler's own words"
check "and earlier results are dropped" says "not run yet: tests lessons sanitize bench"
rm "$work/bin/compute-sanitizer"
run "$check_gpu"
check "all parts run" says "7 passed, 0 failed"
check "a tool that is not there is an error" says "found no compute-sanitizer in PATH"
check "and the rest goes on all the same" says "the table"

# A simulator takes the GPU's place.
forget
no_gpu=yes run "$check_gpu" probe --simulated
check "a simulator is named or built" says "found no simulator, name the folder of its libraries in GPUNET_CUDA_SIMULATOR"
if grep -qsw avx2 /proc/cpuinfo; then
  mkdir -p "$project/tools/cudasim"
  fake build.sh <<<'echo "build.sh $*" >>"$calls"'
  mv "$work/bin/build.sh" "$project/tools/cudasim"
  nvcc_release=13.0 no_gpu=yes run "$check_gpu" probe --simulated
  check "it is built by CUDA 13" called "build.sh $project/build/cudasim"
  check "and the probe runs on it" called "probe $project/build/cudasim"
fi
export GPUNET_CUDA_SIMULATOR=$work/simulator
for part in build tests lessons sanitize bench; do
  no_gpu=yes run "$check_gpu" "$part" --simulated
  check "$part ends well on it" ended_with 0
done
check "the probe runs on it" called "probe $work/simulator"
check "the build knows it" called "-DGPUNET_CUDA_SIMULATOR=$work/simulator"
check "it takes the place of compute-sanitizer" called "doctests 1 --source-file=*tests/ops/linear/cuda_test.cpp"
check "small networks are measured" called "--job lenet_b4 --job iris"
check "which is said" says "only lenet_b4 and iris run on a simulator"
simulated_failures="6 passed, 1 failed" no_gpu=yes run "$check_gpu" sanitize --simulated
check "a failure there counts" says "simulator                  bad  0 tests clean, 1 with errors"
check "it is said that compute-sanitizer is left out" says "compute-sanitizer needs a GPU and is left out"

for name in $(sed -n '/^chosen=(/,/)$/p' "$root/scripts/gpu_parts.sh" | tr -d '()' | sed 's/^chosen=//'); do
  check "the chosen test $name is one on Cuda" grep -qE 'TEST_CASE_TEMPLATE|Cuda' "$root/tests/${name}_test.cpp"
done

finish
