#!/usr/bin/env bash
# mlp_test.sh ROOT DEVICE PROGRAM [PROBE...]: the lesson on digits learns, shows its network and draws pictures.
set -euo pipefail
checks=9
. "$(dirname "$0")/lesson.sh"

are_pictures() {
  local file
  for file; do [[ $(head -c 4 "$file") == "<svg" ]] || return 1; done
}
# The printed losses and accuracies, one of each a line.
progress() { sed -n 's/^loss \([0-9.]*\)  accuracy *\([0-9.]*\) %$/\1 \2/p' <<<"$output"; }
near() {  # 0.0002: a last printed digit on either side
  paste <(progress) <(echo "$1") | awk '{ d = $1 - $3; if (NF != 4 || d * d > 4e-8 || $2 != $4) bad = 1 }
    END { exit bad || NR == 0 }'
}
reads() { awk -v least="$1" '/test digits are read right/ { right = $1 } END { exit !(right > least) }' <<<"$output"; }

# 128 digits are too few for more than a beginning.
few=(--images 128 --batch-size 2 --hidden 16 --lr 0.01)
run "$program" --device "$device" "${few[@]}"
check "the lesson ends well" ended_with 0
check "it shows the network" says "(h2): Linear(in_features=16, out_features=16, bias=True)"
check "and what it costs" says "Total params: 13,002"
check "it draws the network, the training and the digits" are_pictures mlp_{network,training,digits}.svg
check "it begins to read" reads 30
losses=$(progress)
run "$program" --device cpu --threads 1 "${few[@]}"
check "the losses are Host's" near "$losses"

if [[ $device == cpu ]]; then
  run "$program" --device cpu --images 6000 --epochs 2 --hidden 64 --batch-size 64
  check "with more digits it learns to read" reads 90
else
  skip 1 "long training is too much for a simulator"
fi
run "$program" --data nowhere
check "a folder that is not there" says "nowhere"
check "an error ends the program" ended_with 1

finish
