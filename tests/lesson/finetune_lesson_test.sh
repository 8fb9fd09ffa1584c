#!/usr/bin/env bash
# finetune_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the lesson on fine-tuning trains the layers that it says, from weights of a
# file too, and saves a network with torchvision's names.
set -euo pipefail
checks=10
. "$(dirname "$0")/lesson.sh"

# The printed losses of training images.
losses() { sed -n 's,^epoch [0-9]*/[0-9]*  loss \([0-9.e-]*\) .*,\1,p' <<<"$output"; }
near() {  # a hundredth: another device sums in another order, and what that changes grows from step to step
  paste <(losses) <(echo "$1") | awk 'NF != 2 || ($1 - $2) ^ 2 > ($2 / 100) ^ 2 { bad = 1 } END { exit bad || NR == 0 }'
}
has_names() {
  local name
  for name in conv1.weight layer1.0.conv2.weight layer4.0.downsample.1.running_var fc.bias; do
    grep -aq "\"$name\"" "$1" || return 1
  done
}

few=(--images 8 --batch-size 4 --epochs 1)
[[ $slow == no ]] || few=(--images 2 --batch-size 2 --epochs 1)
run "$program" --device "$device" "${few[@]}" --lr 0.0001
check "the lesson ends well" ended_with 0
check "it trains the last layer" says "training a new last layer: 5130 parameters"
check "and the last stage" says "training the last stage too: 8398858 parameters"
check "the arrays have torchvision's names" has_names finetuned.safetensors
first=$(losses)
run "$program" --device cpu --threads 1 "${few[@]}" --lr 0.0001 --save one.safetensors
check "the losses are Host's" near "$first"
run "$program" --device cpu "${few[@]}" --weights one.safetensors --save two.safetensors
check "weights of a file replace the first part" silent_about "training all layers"
check "of which the last layer is left out" says "training a new last layer"

# refused WORDS OPTION...: whether the program says so before it trains.
refused() {
  local words=$1
  shift
  run "$program" --device "$device" "$@"
  ended_with 1 && says "$words" && silent_about 'epoch 1/'
}
check "weights that are not there" refused "nowhere.pth" --weights nowhere.pth
check "no epochs" refused "10_finetune: --epochs 0 (want 1 or more)" --epochs 0
check "a format for one array" refused "10_finetune: --save net.npy (a .npy file holds one array" --save net.npy

finish
