#!/usr/bin/env bash
# vae_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the lesson on a variational autoencoder learns, saves a network that gives
# what is printed, and draws digits.
set -euo pipefail
checks=18
. "$(dirname "$0")/lesson.sh"

# The printed losses, of training images and of held-out ones, one of each a line.
losses() { sed -n 's,^epoch [0-9]*/[0-9]*  loss \([0-9.e-]*\) *val_loss \([0-9.e-]*\) .*,\1 \2,p' <<<"$output"; }
# From that of a network that knows nothing, 784 log 2 = 543; the first of two epochs is above the second.
go_down() {
  losses | awk 'NR > 1 && ($1 >= loss || $2 >= held_out) { bad = 1 } { loss = $1; held_out = $2 }
    NR == 1 && !($1 < 400 && $2 < 250) { bad = 1 } END { exit bad || NR != 2 }'
}
near() {  # a thousandth: another device sums in another order
  paste <(losses) <(echo "$1") | awk 'function off(a, b) { return (a - b) ^ 2 > (b / 1000) ^ 2 }
    NF != 4 || off($1, $3) || off($2, $4) { bad = 1 } END { exit bad || NR == 0 }'
}
has_parameters() {
  local layer kind
  for layer in fc1 fc21 fc22 fc3 fc4; do
    for kind in weight bias; do grep -aq "\"$layer.$kind\"" "$1" || return 1; done
  done
}
reconstruction() { sed -n 's/^the network of .* reconstructs 10 digits with a cross entropy of \([0-9.]*\) each$/\1/p' <<<"$output"; }
is_good() { awk '{ exit !($1 < 250) }' <<<"$(reconstruction)"; }  # of another network's parameters: 500 and more
differ() { ! cmp -s "$1" "$2"; }
is_picture() { [[ $(head -c 4 "$1") == "<svg" && $(grep -o '<image' "$1" | wc -l) == 40 ]]; }

# Enough to learn something on a processor; on another device, which may be simulated, enough to compare.
few=(--images 2000 --epochs 2)
[[ $device == cpu ]] || few=(--images 32 --epochs 2 --batch-size 16)
run "$program" --device "$device" "${few[@]}"
check "the lesson ends well" ended_with 0
if [[ $device == cpu ]]; then check "the losses go down" go_down; else skip 1 "a few images teach nothing"; fi
check "the parameters have PyTorch's names" has_parameters vae.safetensors
if [[ $device == cpu ]]; then check "the saved network reconstructs digits" is_good; else skip 1 "likewise"; fi
check "it draws digits, reconstructions and new ones" is_picture vae_digits.svg
first=$(losses) entropy=$(reconstruction)
run "$program" --device "$device" "${few[@]}" --save vae.npz --picture vae.svg
check "another file has the same network" test "$(reconstruction)" == "$entropy"
check "which draws the same" cmp vae.svg vae_digits.svg
run "$program" --device cpu --threads 2 "${few[@]}" --save two.safetensors
check "the losses are Host's" near "$first"
run "$program" --device cpu --threads 1 "${few[@]}" --save one.safetensors
check "one thread and two learn the same" cmp one.safetensors two.safetensors
run "$program" --device cpu "${few[@]}" --seed 1 --save other.safetensors
check "another seed is another network" differ one.safetensors other.safetensors

run "$program" --device "$device" "${few[@]}" --lr 1e30
check "a loss that becomes infinite ends it" ended_with 1
check "which it says" says "is not finite"
# refused WORDS OPTION...: whether the program says so before it trains.
refused() {
  local words=$1
  shift
  run "$program" --device "$device" "$@"
  ended_with 1 && says "$words" && silent_about 'epoch 1/'
}
check "a folder that is not there" refused "nowhere has neither" --data nowhere
check "no epochs" refused "08_vae: --epochs 0 (want 1 or more)" --epochs 0
check "a format for one array" refused "08_vae: --save vae.npy (a .npy file holds one array" --save vae.npy
check "another picture" refused "vae.jpg ends neither in .svg nor in .png" --picture vae.jpg
check "a folder for the picture that is not there" refused "cannot write none/x.svg" --picture none/x.svg
check "fewer images than a batch" refused "batch_size 128 is larger than the dataset (want 1 to 100)" --images 100

finish
