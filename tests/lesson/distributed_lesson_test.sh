#!/usr/bin/env bash
# distributed_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the lesson on several processes trains as one process does, and goes on with
# another number of them. GPUNET_TEST_MPIRUN starts them, and, on GPUs, GPUNET_TEST_RANKS those that NCCL alone connects.
set -euo pipefail
checks=14
[[ $2 == cpu ]] || checks=18
. "$(dirname "$0")/lesson.sh"

read -ra mpirun <<<"${GPUNET_TEST_MPIRUN:-}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# run_by N OPTION...: the lesson by so many processes.
run_by() {
  local n=$1
  shift
  run "${mpirun[@]}" -n "$n" "$program" --device "$device" "$@"
}
losses() { sed -n 's,^epoch [0-9]*/[0-9]*  loss \([0-9.e-]*\) .*,\1,p' <<<"$output"; }
accuracy() { sed -n 's,^Accuracy of the network.*: \([0-9.]*\) %,\1,p' <<<"$output"; }
near() {  # a hundredth: the sums are in another order, and what that changes grows from step to step
  paste <(losses) <(echo "$1") | awk 'NF != 2 || ($1 - $2) ^ 2 > ($2 / 100) ^ 2 { bad = 1 } END { exit bad || NR == 0 }'
}
learned() { awk "BEGIN { exit !($(accuracy) > $1) }"; }

# record LABEL: an image of CIFAR-10.
record() {
  printf '%b' "\\x0$1"
  head -c 3072 < <(yes "a$1")
}
few=(--images 480 --epochs 4 --lr 0.01 --threads 1) epochs=4 tests=10000
if [[ $device != cpu ]]; then  # which may be simulated
  mkdir images
  for i in 1 2 3 4 5; do { record "$i"; record 0; } >images/data_batch_$i.bin; done
  for ((i = 0; i < 128; ++i)); do record $((i % 10)); done >images/test_batch.bin
  few=(--data images --batch-size 4 --epochs 2 --lr 0.1) epochs=2 tests=128
fi
run "$program" --device "$device" "${few[@]}"
check "the lesson ends well" ended_with 0
check "it says who trains" says "rank 0 of 1: $device"
check "it tests all images" says "of the network on the $tests test images"
first=$(losses) of_one=$(accuracy)
# train_by_two: four checks.
train_by_two() {
  run_by 2 "${few[@]}"
  check "two processes end well" ended_with 0
  check "they say who they are" says "rank 1 of 2: $device"
  check "their losses are those of one" near "$first"
  check "and so is what they know" awk "BEGIN { exit ($(accuracy) - $of_one) ^ 2 > 4 }"
}
if [[ ${#mpirun[@]} == 0 ]]; then
  skip 6 "no mpirun of the MPI that the lesson was built with"
else
  train_by_two
  run_by 2 "${few[@]}" --resume run.safetensors --epochs $((epochs / 2))
  run "$program" --device "$device" "${few[@]}" --resume run.safetensors
  check "one goes on where two ended" near "$(sed "1,$((epochs / 2))d" <<<"$first")"
  run_by 3 --batch-size 16
  check "a batch that cannot be divided" says "13_distributed: --batch-size 16 for 3 processes (want a multiple"
fi
read -ra mpirun <<<"${GPUNET_TEST_RANKS:-}"
if [[ ${#mpirun[@]} != 0 ]]; then
  train_by_two
elif [[ $device != cpu ]]; then
  skip 4 "no NCCL and a GPU for each process"
fi

run "$program" --device "$device" "${few[@]}" --lr 1e30
check "a loss that becomes infinite" says "use a smaller --lr"
# refused WORDS OPTION...: whether the program says so before it trains.
refused() {
  local words=$1
  shift
  run "$program" --device "$device" "$@"
  ended_with 1 && says "$words" && silent_about 'epoch 1/'
}
check "a folder that is not there" refused "nowhere" --data nowhere
check "a format for one array" refused "13_distributed: --save net.npy (a .npy file holds one array" --save net.npy
check "fewer images than a batch" refused "batch_size 16 is larger than the dataset" --images 8
RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 run "$program" "${few[@]}"
# Without NCCL; with it, on a machine with two GPUs and with fewer.
nothing_connects() {
  says "that torchrun started" || says "rank 1 of 2 has no MASTER_ADDR" ||
    says "NCCL finds no GPU for rank 1 of 2"
}
check "processes that nothing connects" nothing_connects

finish
