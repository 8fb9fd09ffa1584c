#!/usr/bin/env bash
# dqn_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the lesson on deep Q-learning balances poles longer than at random, is reproducible,
# and saves the network that acts.
set -euo pipefail
checks=8
. "$(dirname "$0")/lesson.sh"

lengths() { sed -n 's,^step.*mean length \([0-9.]*\)$,\1,p' <<<"$output"; }
is_good() { lengths | tail -n 1 | awk '{ exit !($1 >= 60) }'; }  # at random 22, by then over 140
losses() { sed -n 's,^step.*loss \([0-9.]*\) .*,\1,p' <<<"$output"; }
is_same() { [[ -n $1 && $(losses) == "$1" ]]; }
is_network() { grep -aq '"0.weight"' "$1"; }

many=(--steps 600) few=(--steps 60)
[[ $device == cpu ]] || many=(--steps 2 --batch-size 4 --longest 5) few=("${many[@]}")
run "$program" --device "$device" "${many[@]}"
check "the lesson ends well" ended_with 0
if [[ $device == cpu ]]; then check "the poles stand longer" is_good; else skip 1 "a few steps teach nothing"; fi
check "the network is saved" is_network cartpole.safetensors
[[ $device != cpu ]] || run "$program" --device "$device" "${few[@]}"
first=$(losses)
run "$program" --device "$device" "${few[@]}"
check "the same seed, the same losses" is_same "$first"
if [[ $device == cpu ]]; then
  run "$program" --device cpu --threads 1 "${few[@]}"
  check "any number of threads" is_same "$first"
else
  skip 1 "of Host"
fi
run "$program" --device cpu --steps 30 --lr 1e30
check "a loss that becomes infinite ends it" says "12_dqn: a loss is not finite, use a smaller --lr"
run "$program" --device cpu --steps 0
check "no steps" says "--steps"
run "$program" --device cpu --save net.npy
check "a format for one array" says "12_dqn: --save net.npy (a .npy file holds one array"

finish
