# What the tests of gpu_check.sh, gpu_pack.sh and gpu_device.sh share: fakes of what they call and of what they build. Sourced after
# copy_project.
# shellcheck shell=bash disable=SC2154

mkdir -p "$project/include/gpunet" "$work/doctest"
touch "$work/doctest/doctest.h"
unset GPUNET_BENCH_PYTHON GPUNET_TEST_DATA GPUNET_TEST_TIMEOUT GPUNET_CUDA_SIMULATOR GPUNET_WERROR CUDNN_ROOT OUT
unset LD_LIBRARY_PATH
export project DOCTEST_DIR=$work

fake nvidia-smi <<'END_FAKE'
[[ -z ${no_gpu:-} ]] || { echo "No devices were found"; exit 6; }
case $* in
  -L) echo "GPU 0: Some GPU (UUID: GPU-1)" ;;
  *) echo "Some GPU, 580.1, 9.0" ;;
esac
END_FAKE
fake nvcc <<'END_FAKE'
[[ $1 != --version ]] || { echo "release ${nvcc_release:-12.9}"; exit; }
echo "nvcc $*" >>"$calls"
[[ -z ${broken_nvcc:-} ]] || { echo "the words of nvcc"; exit 1; }
while [[ $1 != -o ]]; do shift; done
cp "$work/bin/probe" "$2"
END_FAKE
fake probe <<'END_FAKE'
echo "probe ${LD_LIBRARY_PATH:-}" >>"$calls"
echo "device: Some GPU"
[[ -z ${no_memory:-} ]] || { echo "memory: CUDA error: out of memory"; exit 1; }
echo "memory: enough"
printf 'kernel: '
[[ -z ${no_kernel:-} ]] || { echo "CUDA error: no kernel image"; exit 1; }
[[ -z ${hanging_kernel:-} ]] || kill -ALRM $$
echo "executed, all correct"  # no "cut" as the state of a note
END_FAKE
fake cmake <<'END_FAKE'
echo "cmake $*" >>"$calls"
if [[ $1 != --build ]]; then
  while [[ $1 != -B ]]; do shift; done
  printf '%s\n' "CMAKE_HOME_DIRECTORY:INTERNAL=$project" GPUNET_TEST_TIMEOUT:STRING=100 \
    "GPUNET_DOCTEST_DIR:PATH=$work" >"$2/CMakeCache.txt"
  echo "add_test(cuda/ops/two \"$2/tests/cuda/gpunet_tests_cuda\" \"$project\")" >"$2/CTestTestfile.cmake"
  exit
fi
[[ -z ${slow_build:-} ]] || { echo "[3/9] something"; sleep 60; }
mkdir -p "$2"/{benchmarks/gpu,examples,tests/cuda}
[[ $* != *gpunet_tests_cuda* ]] || cp "$work/bin/doctests" "$2/tests/cuda/gpunet_tests_cuda"
[[ -z ${broken_bench:-} ]] || { echo "x.cpp(3): error: the compiler's own words"; exit 1; }
cp "$work/bin/bench" "$2/benchmarks/gpu/gpu_bench"
cp "$work/bin/latency" "$2/benchmarks/gpu/gpu_latency"
cp "$work/bin/bench" "$2/examples/07_resnet"
END_FAKE
fake ctest <<'END_FAKE'
all=(- cuda/ops/linear/cuda cuda/ops/two lesson/cuda)
if [[ $* == *" -N "* ]]; then
  case $* in
    *"-L ^lesson$"*) numbers=(3) ;;
    *"-R two"*) numbers=(2) ;;
    *) numbers=(1 2) ;;
  esac
  echo "Test project"
  for i in "${numbers[@]}"; do echo "  Test  #$i: ${all[$i]}"; done
  exit
fi
echo "ctest $*" >>"$calls"
[[ -z ${broken_ctest:-} ]] || { echo "the words of ctest"; exit 1; }
call=$*
numbers=${call##*-I 0,0,0,}
for i in ${numbers//,/ }; do
  name=${all[$i]} end="   Passed"
  if [[ $name == "${slow_test:-}" ]]; then
    echo $$ >"$work/pid"
    sleep 60
  elif [[ $name == "${hung_test:-}" ]]; then
    end="***Timeout"
  elif [[ $name == "${failing_test:-}" ]]; then
    echo "$i: x_test.cpp:7: ERROR: test case THREW exception: CUDA error: out of memory"
    echo "$i: [gpunet] 6 passed, 1 failed, 1 skipped"
    end="***Failed"
  elif [[ $name == "${skipped_test:-}" ]]; then
    echo "$i: skipped, no usable Cuda device: it is busy"
    end="***Skipped"
  else
    echo "$i: [gpunet] 7 passed, 0 failed, 1 skipped"
  fi
  echo "1/1 Test #$i: $name ....$end    0.10 sec"
done
END_FAKE
fake compute-sanitizer <<'END_FAKE'
echo "compute-sanitizer $*" >>"$calls"
[[ $* != *"${dirty:-nothing}"* ]] || { echo "========= Invalid __global__ read"; echo "========= ERROR SUMMARY: 2 errors"; exit 99; }
[[ -z ${no_begin:-} ]] || { echo "Device not supported"; exit 0; }
[[ "$2 $*" != "racecheck "*"${slow_race:-nothing}"* ]] || sleep 60
echo "[gpunet] 7 passed, 0 failed, 0 skipped"
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
[[ -z ${no_torch:-} ]] || echo "PyTorch: none (a reason)"
echo "the table"
echo "summary: tried=2 compared=2 wrong=0 left_out=0 goals_held=1 goals_missed=${goals_missed:-0} goals_unmeasured=0"
END_FAKE
fake latency <<'END_FAKE'
echo "latency" >>"$calls"
[[ -z ${hanging_latency:-} ]] || sleep 60
echo "a launch: 2.100 us"
[[ -z ${crashing_latency:-} ]] || kill -SEGV $$
echo "barrier of a cluster of 8 blocks: not measured: not supported"
END_FAKE
fake doctests <<'END_FAKE'
echo "doctests ${CUDASIM_SEED:-} $*" >>"$calls"
echo "[gpunet] ${simulated_failures:-7 passed, 0 failed}, 0 skipped"
END_FAKE
fake python3 <<<'exit "${no_torch:-0}"'
