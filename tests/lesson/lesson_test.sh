#!/usr/bin/env bash
# lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the first losses of the lesson are PyTorch's and Host's, the same bits in
# every run and by both loops, and training lowers them. PROBE is a command that ends with 77 where there is no such
# device. GPUNET_TEST_DATA names the folder of the data; without, the lesson trains on its synthetic images, for which there
# are no losses of PyTorch.
set -euo pipefail
checks=6
. "$(dirname "$0")/lesson.sh"
data=()
[[ ! -d ${GPUNET_TEST_DATA:-nowhere}/cifar10 ]] || data=(--data "$GPUNET_TEST_DATA/cifar10")

# The losses in the output, one a line.
losses() { sed -n 's/^.*loss: *//p' <<<"$output"; }

# run_steps OPTION...: runs the lesson for 20 steps and ends it then: testing the network would take too long on a
# simulator.
steps=20
run_steps() {
  status=0
  : >out
  "$program" ${data[@]+"${data[@]}"} --seed 0 --print-every 1 --precision 17 --max-steps "$steps" "$@" >>out 2>&1 &
  background+=($!)
  while output=$(<out) && [[ $(losses | wc -l) -lt $steps ]] && kill -0 "$!" 2>/dev/null; do sleep 0.05; done
  output=$(<out)
  kill "$!" 2>/dev/null || true
  wait "$!" 2>/dev/null || true
  background=()
}

# near VALUE...: whether the first losses are these, within 1e-5 relative.
near() {
  paste <(losses | head -n $#) <(printf '%s\n' "$@") |
    awk '{ d = $1 - $2; if (NF != 2 || d * d > 1e-10 * $2 * $2) bad = 1 } END { exit bad }'
}
the_same() { [[ $(losses | wc -l) == "$steps" && $(losses) == "$1" ]]; }
fall() { losses | awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(NR > 1 && last < 0.97 * first) }'; }

# PyTorch 1.13 on a CPU, seed 0, batch 4, learning rate 0.001, momentum 0.9.
run_steps --device "$device" --loop step
if [[ ${#data[@]} != 0 ]]; then
  check "the first losses" near 2.24106455 2.28327608 2.33412051
else
  skip 1 "GPUNET_TEST_DATA names no folder with cifar10"
fi
first=$(losses)
run_steps --device "$device" --loop step
check "another run has the same bits" the_same "$first"
run_steps --device "$device" --loop eager
check "--loop eager has the same bits" the_same "$first"
run_steps --device cpu --loop step
# shellcheck disable=SC2086  # numbers
check "they are Host's" near $first

if [[ $device == cpu ]]; then
  run "$program" ${data[@]+"${data[@]}"} --device cpu --seed 0 --max-steps 300 --print-every 100 --batch-size 32 --lr 0.02
  check "training lowers the losses" fall
  check "the lesson ends well" ended_with 0
else
  skip 2 "long training is too much for a simulator"
fi

finish
