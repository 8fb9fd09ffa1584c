#!/usr/bin/env bash
# gan_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the lesson on a generative adversarial network draws points of the ring, and saves
# the generator alone.
set -euo pipefail
checks=7
. "$(dirname "$0")/lesson.sh"

good() { sed -n 's,.*good points \([0-9]*\) %.*,\1,p' <<<"$output" | tail -n 1; }
is_good() { [[ $(good) -ge 40 ]]; }  # a generator that knows nothing has a few in a hundred
is_generator() { grep -aq '"generator.1.weight"' "$1" && ! grep -aq discriminator "$1"; }
losses() { sed -n 's,^step.*discriminator \([0-9.]*\)  generator \([0-9.]*\) .*,\1 \2,p' <<<"$output"; }
near() {  # a hundredth: another device sums in another order
  paste <(losses) <(echo "$1") | awk 'function off(a, b) { return (a - b) ^ 2 > (b / 100) ^ 2 }
    NF != 4 || off($1, $3) || off($2, $4) { bad = 1 } END { exit bad || NR == 0 }'
}

few=(--steps 6 --batch-size 16)
[[ $slow == yes ]] || few=(--steps 1500)
run "$program" --device "$device" "${few[@]}"
check "the lesson ends well" ended_with 0
if [[ $slow == no ]]; then check "the points are those of the ring" is_good; else skip 1 "a few steps teach nothing"; fi
check "the generator is saved alone" is_generator generator.safetensors
run "$program" --device "$device" --steps 6 --batch-size 16
first=$(losses)
run "$program" --device cpu --threads 1 --steps 6 --batch-size 16
check "the losses are Host's" near "$first"
run "$program" --device "$device" --steps 20 --lr 1e30
check "a loss that becomes infinite ends it" says "11_gan: a loss is not finite, use a smaller --lr"
run "$program" --device "$device" --steps 0
check "no steps" says "--steps"
run "$program" --device "$device" --save net.npy
check "a format for one array" says "11_gan: --save net.npy (a .npy file holds one array"

finish
