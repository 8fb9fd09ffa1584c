#!/usr/bin/env bash
# scripts/gpu_pack.sh, and scripts/gpu_device.sh in another folder with the packed files. The commands
# that they call and the programs that they build are fakes.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

copy_project
. "$root/tests/scripts/gpu_fakes.sh"
mkdir -p "$work/beside/iris"
touch "$work/beside/iris/iris.csv"
export GPUNET_TEST_DATA=$work/beside
fake git <<<'find scripts -type f -print0'
fake strip <<<'exit 0'

# On a machine without a GPU.
pack=$project/scripts/gpu_pack.sh
archive=$project/build/pack/gpu.tar.xz
run "$pack" quickly
check "an unknown argument is an error" says "unknown arguments 'quickly', want nothing or --simulated"
only bash dirname
PATH=$PATH:$work/bin
run "$pack"
check "a tool that is not there is one" says "found no xz (it compiles, lists or packs the files), install it"
PATH=$full_path
if ! command -v xz >/dev/null; then
  skip 63 "there is no xz"
  finish
  exit
fi
PATH=$work/bin:$PATH
broken_nvcc=yes run "$pack"
check "an nvcc that does not work is one" says "nvcc could not compile scripts/gpu_probe.cu"
broken_bench=yes run "$pack"
check "so is what does not compile" says "the compiler's own words"
check "with a status" ended_with 1
check "and without an archive" absent "$archive"
forget
run env no_gpu=yes "$pack"
check "all is built without a GPU" ended_with 0
check "for an H100" called "-DCMAKE_CUDA_ARCHITECTURES=90-real"
check "to be run anywhere" called "-DGPUNET_RUN_DIR=../../../.."
check "what hangs is ended soon" called "-DGPUNET_TEST_TIMEOUT=60"
check "it says how large it is" says "gpu.tar.xz: 0.0 MB"
check "how large it is unpacked and how long it took" says "MB unpacked, compiled in"
forget
run "$pack"
check "a second call does not compile the probe again" not_called "nvcc -std"

# On a machine with one.
export GPUNET_TEST_DATA=
unpacked=$work/unpacked
mkdir -p "$unpacked"
tar -C "$unpacked" -xf "$archive"
project=$unpacked build=$unpacked/build/gpu out=$work/out
device=$unpacked/scripts/gpu_device.sh
for file in scripts/lib.sh build/gpu/tests/cuda/gpunet_tests_cuda build/gpu/benchmarks/gpu/gpu_{bench,latency} \
  build/gpu/examples/07_resnet build/gpu.check/probe_sm_90 build/data/iris/iris.csv build/doctest/doctest/doctest.h; do
  check "the archive has $file" test -s "$unpacked/$file" -o "${file##*.}" != sh -a -e "$unpacked/$file"
done
fake ldd <<'END_FAKE'
[[ -z ${no_library:-} ]] || echo "	libcudnn.so.9 => not found"
echo "	libcublas.so.13 => $work/libraries/libcublas.so.13 (0x1)"
END_FAKE
mkdir "$work/libraries"
touch "$work/libraries/libcublas.so.13"
fake ncu <<'END_FAKE'
echo "ncu $*" >>"$calls"
while [[ $1 != --log-file ]]; do shift; done
[[ -z ${no_counters:-} ]] || { echo "==ERROR== ERR_NVGPUCTRPERM" >"$2"; exit 1; }
printf '%s\n' "==PROF== Connected" '"ID","Kernel Name"' '"",""' '"0","product_kernel"' >"$2"
END_FAKE

run "$device" --help
check "--help shows the parts" says "latency    launches, nodes of graphs"
run "$device"
check "a part has to be named" says "no part is named, want some of probe tests latency"
run "$device" build
check "nothing is built" says "unknown argument 'build'"
no_gpu=yes run "$device" tests
check "without a GPU it says so" says "there is no GPU here"
no_library=yes run "$device" tests
check "a library that is not there is said first" says "found no libcudnn.so.9 in "
check "with an error" ended_with 1

forget
OUT=$out run "$device" probe tests latency ncu goals
check "the parts of the first call" ended_with 0
check "say what they found" says "tests                      ok   14 passed, 0 failed, 2 skipped in 2 entries"
check "latencies" says "latency                    ok   1 measured, 1 not"
check "counters" says "ncu transformer            ok   1 kernels"
check "benchmarks" says "benchmarks                 ok   2 lines"
check "the paths of ctest are those of this folder" grep -qF "\"$build/tests/cuda/gpunet_tests_cuda\" \"$unpacked\"" "$build/CTestTestfile.cmake"
check "those of cmake too" grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$unpacked" "$build/CMakeCache.txt"
check "the libraries were read" says "libraries: $work/libraries/libcublas.so.13"
check "twelve tests at a time" called "--parallel 12"
check "only what has goals is measured" called "--lines goals"
check "of PyTorch" called "--python $work/bin/python3"
check "the probe runs once" test "$(grep -c ^probe "$calls")" = 1
check "nothing is compiled" not_called "nvcc"
check "nor configured" not_called "cmake"
check "OUT has the tables" grep -qx "the table so far" "$out/goals.md"
check "the kernels of all networks" grep -qx '"vgg_b32","0","product_kernel"' "$out/ncu.csv"
check "with the columns once" test "$(grep -c '"Kernel Name"' "$out/ncu.csv")" = 1
check "the latencies" grep -q "a launch: 2.100 us" "$out/gpu_check.txt"
check "and no more than eight files" test "$(find "$out" -type f | wc -l)" -le 8
rm -r "$out"
forget
OUT=$out run "$device" tests --only two lessons rest sanitize
check "the parts of the second call" ended_with 0
check "take the tests that are named" says "tests                      ok   7 passed, 0 failed, 1 skipped in 1 entries"
check "the lessons" says "lessons                    ok   7 passed"
check "the other benchmarks" called "--lines rest"
check "and the sanitizers" says "memcheck                   ok   2 tests clean"
check "no more than eight files" test "$(find "$out" -type f | wc -l)" -le 8

# What fails costs itself.
no_memory=yes run "$device" tests latency
check "without memory nothing else runs" says "bad  memory: CUDA error: out of memory"
check "with an error" ended_with 1
crashing_latency=yes OUT=$out run "$device" latency goals
check "a crash is told" says "latency                    bad  ended with status 139"
check "with what came before it" says "a launch: 2.100 us"
check "and the next part runs" says "benchmarks                 ok"
rm -r "$out"
sed -i 's/\[latency\]=20/[latency]=5/' "$device"
hanging_latency=yes OUT=$out run "$device" latency goals
check "a part that hangs is cut" says "latency                    bad  ended with status 124"
check "and the next part runs" says "benchmarks                 ok"
run env no_counters=yes "$device" ncu
check "without counters it says why" says "ncu lenet_b4               bad  no kernels, status 1: ==ERROR== ERR_NVGPUCTRPERM"
# A process that waits for the driver cannot be ended, not even by `timeout`.
mv "$unpacked/scripts/gpu_report.sh" "$work/report"
sed 's/^grace=20/grace=1/' "$work/report" >"$unpacked/scripts/gpu_report.sh"
fake timeout <<'END_FAKE'
[[ $* != *gpu_latency* ]] || exec sleep 60
exec "$(PATH=${PATH#*:} command -v timeout)" "$@"
END_FAKE
forget
OUT=$out run "$device" latency goals
check "one that cannot be ended is abandoned" says "latency                    bad  did not end within 6 s and was abandoned"
check "the next part begins with the probe" test "$(grep -c ^probe "$calls")" = 2
check "and runs" says "benchmarks                 ok"
rm "$work/bin/timeout"
run "$device" --seconds 2 tests goals
check "without time a part is not begun" says "goals                      cut  there was no time for it"
check "with the status of a cut" ended_with 75

finish
