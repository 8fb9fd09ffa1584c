#!/usr/bin/env bash
# resnet_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the lesson on a residual network learns, and saves a network with
# torchvision's names.
set -euo pipefail
checks=13
. "$(dirname "$0")/lesson.sh"

# The printed losses of training images.
losses() { sed -n 's,^epoch [0-9]*/[0-9]*  loss \([0-9.e-]*\) .*,\1,p' <<<"$output"; }
# From that of a network that knows nothing: log 10 is 2.3, more for weights that say so with some confidence.
go_down() { losses | awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(NR == 3 && first < 4 && last < first) }'; }
near() {  # a hundredth: another device sums in another order, and what that changes grows from step to step
  paste <(losses) <(echo "$1") | awk 'NF != 2 || ($1 - $2) ^ 2 > ($2 / 100) ^ 2 { bad = 1 } END { exit bad || NR == 0 }'
}
has_names() {
  local name
  for name in conv1.weight bn1.running_var layer1.0.conv2.weight layer3.0.downsample.1.num_batches_tracked fc.bias; do
    grep -aq "\"$name\"" "$1" || return 1
  done
}

# Enough to learn something on a processor; on another device, which may be simulated, enough to compare.
few=(--images 96 --batch-size 32 --depth 8 --epochs 3 --lr 0.02)
[[ $device == cpu ]] || few=(--images 4 --batch-size 2 --depth 8 --epochs 1 --lr 0.001)
run "$program" --device "$device" "${few[@]}"
check "the lesson ends well" ended_with 0
check "it says what it trains" says "ResNet-8 with 78042 parameters on"
if [[ $device == cpu ]]; then check "the losses go down" go_down; else skip 1 "a few images teach nothing"; fi
check "the arrays have torchvision's names" has_names resnet.safetensors
first=$(losses)
run "$program" --device cpu --threads 2 "${few[@]}" --save two.safetensors
check "the losses are Host's" near "$first"
run "$program" --device cpu --threads 1 "${few[@]}" --save one.safetensors
check "one thread and two learn the same" cmp one.safetensors two.safetensors

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
check "no such depth" refused "07_resnet: --depth 21 (want 6 n + 2 layers: 8, 14, 20, 32, ...)" --depth 21
check "batches of one" refused "07_resnet: --batch-size 1 (want 2 or more" --batch-size 1
check "no epochs" refused "07_resnet: --epochs 0 (want 1 or more)" --epochs 0
check "a format for one array" refused "07_resnet: --save resnet.npy (a .npy file holds one array" --save resnet.npy
check "fewer images than a batch" refused "batch_size 128 is larger than the dataset (want 1 to 100)" --images 100

finish
