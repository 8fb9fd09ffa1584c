#!/usr/bin/env bash
# stop_test.sh ROOT DEVICE PROGRAM: a lesson that is interrupted, that nobody listens to, or whose files cannot be written,
# ends with what it learned and with the status that shells expect.
set -euo pipefail
checks=19
. "$(dirname "$0")/lesson.sh"

# What makes each lesson long and short, a line that says that it listens to signals, what it leaves, an output that cannot
# be written, and what it prints first when it trains.
case ${program##*/} in
  01*) long=(--epochs 100000 --print-every 20) short=(--max-steps 30 --print-every 1) ready='loss:'
    files=cifar_net.safetensors bad=(--save none/x.pth) trains='loss:' ;;
  02*) long=(--epochs 1000000000) short=() ready='the tensor is on'
    files=iris_loss.svg bad=(--picture none/x.svg) trains='epoch:' ;;
  03*) long=(--images 40000 --batch-size 4 --logs runs) short=(--images 64 --batch-size 32 --most-batch-size 4 --steps 1 --logs runs)
    ready='cuda:99' files='runs/cpu*/events*' bad=(--picture none/x.svg) trains='an epoch' ;;
  04*) long=(--images 6000 --batch-size 16 --hidden 16 --epochs 100000) short=(--images 128 --batch-size 2 --hidden 16) ready='^loss '
    files='mlp_network.svg mlp_training.svg mlp_digits.svg' bad=(--pictures none/x) trains='loss' ;;
  05*) long=(--points 20 --layers 2 --epochs 100000000) short=(--points 20 --layers 2 --epochs 40) ready='^epoch 0'
    files=playground.html bad=(--html none/x.html) trains='epoch' ;;
  06*) long=(--epochs 1000000) short=(--epochs 20) ready='^epoch' files='regression.safetensors regression.svg'
    bad=(--save none/x.pth) trains='epoch' ;;
  07*) long=(--images 64 --batch-size 16 --depth 8 --epochs 1000000) short=(--images 64 --batch-size 16 --depth 8 --epochs 2)
    ready='^epoch' files=resnet.safetensors bad=(--save none/x.pth) trains='epoch' ;;
  08*) long=(--images 1000 --epochs 1000000) short=(--images 1000 --epochs 2) ready='^epoch'
    files='vae.safetensors vae_digits.svg' bad=(--picture none/x.svg) trains='epoch' ;;
  09*) printf 'abcdefgh%.0s' {1..80} >.letters
    long=(--text .letters --window 16 --epochs 1000000) short=(--text .letters --window 16 --epochs 1 --length 20) ready='^epoch'
    files='text.safetensors text.svg' bad=(--picture none/x.svg) trains='epoch' ;;
  10*) long=(--images 2 --batch-size 2 --epochs 1000000) short=(--images 2 --batch-size 2 --epochs 1) ready='^epoch'
    files=finetuned.safetensors bad=(--save none/x.pth) trains='epoch' ;;
  11*) long=(--batch-size 16 --steps 20000) short=(--batch-size 16 --steps 600) ready='^step'
    files=generator.safetensors bad=(--save none/x.pth) trains='step' ;;
  12*) long=(--batch-size 16 --steps 20000) short=(--batch-size 16 --steps 600) ready='^step'
    files=cartpole.safetensors bad=(--save none/x.pth) trains='step' ;;
  13*) long=(--images 64 --epochs 1000000) short=(--images 64 --epochs 2) ready='^epoch' files=distributed.safetensors
    bad=(--save none/x.pth) trains='epoch' ;;
esac
[[ ${program##*/} == 03* ]] || { long+=(--device cpu) && short+=(--device cpu); }
export CUDA_VISIBLE_DEVICES=  # 03 takes every GPU that it sees

# shellcheck disable=SC2086  # several, with patterns
has_files() { ls $files >/dev/null && [[ -z $(find . -name '*.tmp-*') ]]; }
# stopped_by SIGNAL...: starts the long form, and sends it these as soon as it listens.
stopped_by() {
  rm -rf ./*
  : >lines
  status=0
  "$program" "${long[@]}" >lines 2>&1 &
  background+=($!)
  until grep -q "$ready" lines || ! kill -0 $!; do sleep 0.05; done
  for signal; do kill "-$signal" $! 2>/dev/null || true; done
  wait $! || status=$?
  background=()
  output=$(tail -n 5 lines)
}

stopped_by INT
check "Ctrl-C ends it" ended_with 130
check "with what it learned" has_files
stopped_by TERM
check "SIGTERM ends it" ended_with 143
check "with what it learned" has_files
stopped_by HUP HUP
check "a closed terminal ends it, which sends two signals" ended_with 129
check "with what it learned" has_files

rm -rf ./*
status=0
"$program" "${short[@]}" 2>errors | true || status=${PIPESTATUS[0]}
output=$(<errors)
check "nobody reads what it prints" ended_with 1
check "which it says" says "error: what the program prints could not be written whole"
check "it saves what it learned" has_files
rm -rf ./*
status=0
output=$("$program" "${short[@]}" 2>&1 >/dev/full) || status=$?
check "a full disk behind its output" ended_with 1
check "which it says" says "error: what the program prints could not be written whole"
check "it saves what it learned" has_files
status=0
output=$("$program" --help 2>&1 >/dev/full) || status=$?
check "so with --help" ended_with 1
run "$program" --help
check "--help ends well" ended_with 0
check "and prints nothing else" test "${output%%:*} $(tail -n 1 <<<"$output" | grep -c "print this and stop")" = "usage 1"

run "$program" "${short[@]}" "${bad[@]}"
check "a file that cannot be written ends it" ended_with 1
check "which it says" says "cannot write none/x"
check "before it trains" silent_about "$trains"

rm -rf ./*
if [[ ${program##*/} == 01* ]]; then
  run bash -c 'ulimit -f 50 && exec "$@"' - "$program" "${short[@]}"
  check "a limit on file sizes" says "raise the limit on file sizes (ulimit -f)"
else
  skip 1 "a limit on file sizes is for the lesson that saves a network"
fi

finish
