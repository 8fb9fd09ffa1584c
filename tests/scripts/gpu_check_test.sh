#!/usr/bin/env bash
# scripts/gpu_check.sh as on machines with a GPU and without: nvidia-smi, cmake, ctest, compute-sanitizer, Python and the
# programs that are built are fakes. And both sides of the benchmarks on a GPU have the same jobs.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

copy_project
check_gpu=$project/scripts/gpu_check.sh
build=$project/build/gpu
out=$work/out

fake nvidia-smi <<'END_FAKE'
[[ -z ${no_gpu:-} ]] || { echo "No devices were found"; exit 6; }
case $* in
  -L) echo "GPU 0: Some GPU (UUID: GPU-1)" ;;
  *=name*) echo "Some GPU, 580.1, 9.0" ;;
  *) echo 9.0 ;;
esac
END_FAKE
fake cmake <<'END_FAKE'
echo "cmake $*" >>"$calls"
[[ $1 == --build ]] || exit 0
[[ -z ${slow_build:-} ]] || { sleep 60; exit 1; }
mkdir -p "$2"/{benchmarks/gpu,examples,tests/cuda}
[[ $* != *gpu_bench* || -n ${broken_bench:-} ]] || cp "$work/bin/bench" "$2/benchmarks/gpu/gpu_bench"
cp "$work/bin/lesson" "$2/examples/01_cifar10"
[[ $* != *gpunet_tests_cuda* ]] || cp "$work/bin/doctests" "$2/tests/cuda/gpunet_tests_cuda"
[[ -z ${broken_bench:-} ]] || { echo "the compiler's own words"; exit 1; }
END_FAKE
fake ctest <<'END_FAKE'
if [[ $* == *" -N "* ]]; then
  printf 'Test project\n  Test  #3: cuda/ops/one\n  Test #12: cuda/ops/two\n\nTotal Tests: 2\n'
else
  echo "ctest $*" >>"$calls"
  printf '1: [gpunet] 7 passed, 0 failed, 1 skipped\n1/2 Test #1: cuda/ops/one ....   Passed    0.10 sec\n'
  [[ -z ${slow_tests:-} ]] || sleep 60
  [[ -z ${failing_test:-} ]] ||
    { printf '2: what failed\n2/2 Test #2: cuda/ops/two ....***Failed    0.10 sec\n'; exit 8; }
fi
END_FAKE
fake compute-sanitizer <<'END_FAKE'
echo "compute-sanitizer $*" >>"$calls"
[[ $* != *"${dirty:-nothing}"* ]] || { echo "========= ERROR SUMMARY: 2 errors"; exit 99; }
[[ -z ${no_begin:-} ]] || { echo "Device not supported"; exit 0; }
case $2 in
  racecheck) echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" ;;
  *) echo "========= ERROR SUMMARY: 0 errors" ;;
esac
END_FAKE
fake bench <<'END_FAKE'
echo "bench $*" >>"$calls"
while [[ $# -gt 0 ]]; do
  case $1 in
    --json) echo '{"jobs": []}' >"$2" ;;
    --markdown) echo "the table so far" >"$2" ;;
  esac
  shift
done
[[ -z ${slow_bench:-} ]] || sleep 60
echo "the table"
exit "${bench_status:-0}"
END_FAKE
fake lesson <<'END_FAKE'
[[ $* != *cuda*eager* || -z ${other_bits:-} ]] || { echo "[1, 1] loss: 2.2410646"; exit 0; }
echo "[1, 1] loss: 2.24106455"
END_FAKE
fake doctests <<<'exit 0'
fake python3 <<<'exit "${no_torch:-0}"'
unset GPUNET_DOCTEST_DIR GPUNET_BENCH_PYTHON GPUNET_TEST_DATA GPUNET_CHECK_SECONDS OUT
export GPUNET_DOCTEST_DIR=$work

run "$check_gpu" --help
check "it takes no arguments" says "unknown arguments '--help'"

no_gpu=yes run "$check_gpu"
check "without a GPU it says so" says "there is no GPU here"
check "ends as skipped" ended_with 77
check "and builds nothing" not_called cmake

OUT=$out run "$check_gpu"
check "where all is well it ends well" ended_with 0
check "with a verdict" says "EVERYTHING HOLDS."
check "and names the GPU" says "GPU: Some GPU, 580.1, 9.0"
check "it builds for that GPU" called "-DCMAKE_CUDA_ARCHITECTURES=90"
check "with the doctest that was named" called "-DGPUNET_DOCTEST_DIR=$work"
check "the tests are counted" says "7 passed, 0 failed, 1 skipped"
check "all of the op tests go through the tools" says "2 files clean, 0 with errors, 0 CUT"
for tool in memcheck racecheck initcheck synccheck; do
  check "$tool is one" called "compute-sanitizer --tool $tool --error-exitcode 99"
done
check "the lesson is compared with Host's" says "1 losses to 1e-5, built-in images"
check "PyTorch is the opponent" called "--python $work/bin/python3"
check "the table is printed" says "the table"
check "and goes to OUT" grep -q "the table" "$out/gpu_check.txt"
check "with the parts as JSON" grep -q '{"part": "memcheck", "state": "ok", "what": "2 files clean' "$out/gpu_check.json"
check "and the jobs" grep -q '"benchmarks": {"jobs": \[\]}' "$out/gpu_check.json"
check "and the logs" test -s "$out/sanitizers.log"

rm "$work/bin/compute-sanitizer"
no_torch=1 run "$check_gpu"
check "without compute-sanitizer it says so" says "there is no compute-sanitizer in PATH"
check "and goes on without PyTorch too" says "only ours is measured"
check "to the table" says "the table"
check "but does not say that everything holds" says "What was run holds; not everything could be run."
check "and ends with an error" ended_with 1

fake compute-sanitizer <<'END_FAKE'
[[ $* != *"${dirty:-nothing}"* ]] || { echo "========= ERROR SUMMARY: 2 errors"; exit 99; }
[[ -z ${no_begin:-} ]] || { echo "Device not supported"; exit 0; }
echo "========= ERROR SUMMARY: 0 errors"
END_FAKE
dirty=ops/two failing_test=yes other_bits=yes bench_status=3 run "$check_gpu"
check "errors that a tool finds count" says "1 files clean, 1 with errors, 0 CUT"
check "and are named" says "memcheck has errors in ops/two"
check "a failing test shows" says "what failed"
check "and counts" says "7 passed, 1 failed, 1 skipped"
check "other bits of the eager loop show" says "they differ or are missing"
check "a goal that does not hold shows" says "not every goal holds"
check "the rest goes on all the same" says "the table"
check "in the verdict" says "NOT EVERYTHING HOLDS."
check "and the end is an error" ended_with 1

no_begin=yes broken_bench=yes run "$check_gpu"
check "a tool that could not begin has not passed" says "0 files clean, 2 with errors"
check "what does not compile shows" says "the compiler's own words"
check "is left out" says "there is no program of the benchmarks"
check "and the tests run" says "7 passed, 0 failed"

GPUNET_CHECK_SECONDS=4 slow_build=yes run "$check_gpu"
check "a build that takes too long is cut" says "CUT after"
check "and the verdict comes all the same" says "NOT EVERYTHING HOLDS."

GPUNET_CHECK_SECONDS=8 slow_tests=yes run "$check_gpu"
check "tests that take too long are cut, what they counted stays" says "7 passed, 0 failed, 1 skipped, CUT"
check "and the verdict comes all the same" says "NOT EVERYTHING HOLDS."

GPUNET_CHECK_SECONDS=8 slow_bench=yes OUT=$out run "$check_gpu"
check "benchmarks that take too long are cut" says "CUT: the time was over"
check "their table so far stays" grep -q "the table so far" "$out/benchmarks.md"

run diff <(sed -n '/list{/,/};/p' "$root/benchmarks/gpu/jobs.cpp" | grep -oE '"[a-z0-9_]+"' | tr -d '"') \
  <(sed -n '/^CUDA_JOBS/,/^}/p' "$root/benchmarks/opponent_cuda.py" | grep -oE '^    "[a-z0-9_]+"' | tr -d '" ')
check "both sides have the same jobs" ended_with 0
run sed -n '/list{/,/};/p' "$root/benchmarks/gpu/jobs.cpp"
check "and there are some" says lenet_b4

finish
