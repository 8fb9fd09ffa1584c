#!/usr/bin/env bash
# lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the first losses of the lesson are PyTorch's, and training lowers them.
# PROBE is a command that ends with 77 where there is no such device. GPUNET_TEST_DATA names the folder of the data.
set -euo pipefail
. "$(dirname "$0")/../scripts/testing.sh"
device=$2
program=$3
shift 3

skip_all() {
  skip 4 "$1"
  finish
  exit 77
}
data=${GPUNET_TEST_DATA:-nowhere}/cifar10
[[ -d $data ]] || skip_all "GPUNET_TEST_DATA names no folder with cifar10"
[[ $# == 0 ]] || "$@" >/dev/null || skip_all "there is no usable device $device"
cd "$work"

# The losses in the output, one a line.
losses() { sed -n 's/^.*loss: *//p' <<<"$output"; }

# Runs the lesson for three steps and ends it then: testing the network would take too long on a simulator.
run_three_steps() {
  status=0
  : >out
  "$program" --data "$data" --device "$device" --seed 0 --print-every 1 --precision 8 --max-steps 3 "$@" >>out 2>&1 &
  background+=($!)
  while output=$(<out) && [[ $(losses | wc -l) -lt 3 ]] && kill -0 "$!" 2>/dev/null; do sleep 0.05; done
  output=$(<out)
  kill "$!" 2>/dev/null || true
  wait "$!" 2>/dev/null || true
  background=()
}

# near VALUE...: whether the losses are these, within 1e-5 relative.
near() {
  paste <(losses) <(printf '%s\n' "$@") |
    awk '{ d = $1 - $2; if (NF != 2 || d * d > 1e-10 * $2 * $2) bad = 1 } END { exit bad }'
}
fall() { losses | awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(NR > 1 && last < 0.97 * first) }'; }

# PyTorch 1.13 on a CPU, seed 0, batch 4, learning rate 0.001, momentum 0.9.
for loop in step eager; do
  run_three_steps --loop "$loop"
  check "the first losses, --loop $loop" near 2.24106455 2.28327608 2.33412051
done

if [[ $device == cpu ]]; then
  run "$program" --data "$data" --device cpu --seed 0 --max-steps 300 --print-every 100 --batch-size 32 --lr 0.02
  check "training lowers the losses" fall
  check "the lesson ends well" ended_with 0
else
  skip 2 "long training is too much for a simulator"
fi

finish
