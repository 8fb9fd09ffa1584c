#!/usr/bin/env bash
# cpu_vs_gpu_test.sh ROOT DEVICE PROGRAM [PROBE...]: the comparison of devices ends well and leaves a picture and losses.
set -euo pipefail
checks=9
. "$(dirname "$0")/lesson.sh"
[[ $device != cpu ]] || export CUDA_VISIBLE_DEVICES=  # it takes every GPU that it sees

begins_with() { [[ $(head -c "${#2}" "$1") == "$2" ]]; }
has_losses() { [[ $(find runs/03_cpu_vs_gpu -name 'events.out.tfevents.*' -size +100c | wc -l) -ge 2 ]]; }
# Two batch sizes, each with shares of about 100 % in all.
has_sweep() {
  awk '/^ +[0-9]+: [0-9.]+ ms: / { ++lines; sum = $4 + $7 + $10; if (sum < 99.7 || sum > 100.3) bad = 1 }
    END { exit bad || lines != 2 }' <<<"$output"
}

run "$program" --images 64 --batch-size 32 --most-batch-size 16 --steps 1
check "it ends well" ended_with 0
check "what PyTorch says of a wrong device" says "Expected one of cpu, cuda device type at start of device string: gpu"
check "and of one that is not there" says "cuda:99: gpunet::"
if [[ $device == cpu ]]; then
  check "without a GPU one thread is compared with all" says "cpu, 1 thread"
else
  check "every GPU is trained on" says "cuda:0"
fi
check "the parts of a step at each batch size" has_sweep
check "a picture" begins_with cpu_vs_gpu.svg "<svg"
check "losses for TensorBoard, of each device" has_losses

run "$program" --most-batch-size 3
check "a sweep without an end" says "03_cpu_vs_gpu: --most-batch-size 3 (want 4 or more)"
check "an error ends the program" ended_with 1

finish
