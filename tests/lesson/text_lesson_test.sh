#!/usr/bin/env bash
# text_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the lesson on language models learns a text, saves the network, and writes.
set -euo pipefail
checks=18
. "$(dirname "$0")/lesson.sh"

# The printed losses of training and of what is held out, one of each a line.
losses() { sed -n 's,^epoch [0-9]*/[0-9]*  loss \([0-9.e-]*\) *val_loss \([0-9.e-]*\) .*,\1 \2,p' <<<"$output"; }
# The first of two epochs begins at about log of the number of characters; the second knows the text.
learns() { losses | awk 'NR == 2 && $1 < 0.5 && $2 < 0.5 { good = 1 } END { exit !good }'; }
near() {  # a hundredth: another device sums in another order
  paste <(losses) <(echo "$1") | awk 'function off(a, b) { return (a - b) ^ 2 > (b / 100) ^ 2 }
    NF != 4 || off($1, $3) || off($2, $4) { bad = 1 } END { exit bad || NR == 0 }'
}

# A text in which each character follows from the one before it.
repeats=40
[[ $device == cpu ]] || repeats=10
for ((i = 0; i < repeats; ++i)); do printf 'abcdefgh'; done >letters.txt
# Enough to learn it on a processor; on another device, which may be simulated, enough to compare.
few=(--text letters.txt --window 16 --batch-size 8 --epochs 2 --lr 0.01 --length 30)
[[ $device == cpu ]] || few=(--text letters.txt --window 4 --batch-size 8 --epochs 1 --length 3)
on_cpu() { if [[ $device == cpu ]]; then check "$@"; else skip 1 "a few steps teach nothing"; fi; }
run "$program" --device "$device" "${few[@]}" --temperature 0.1
check "the lesson ends well" ended_with 0
on_cpu "the network learns" learns
on_cpu "and writes what it learned" says "abcdefghabcdefghabcdefghabcdefg"
check "the losses are drawn" grep -q "<svg" text.svg
first=$(losses)
run "$program" --device cpu --text letters.txt --window 16 --load text.safetensors --prompt cde --length 8 --temperature 0.1
on_cpu "the saved network goes on writing" says "cdefghabcde"
check "without training" silent_about "epoch"
run "$program" --device cpu --threads 2 "${few[@]}" --save two.safetensors
check "the losses are Host's" near "$first"
run "$program" --device cpu --threads 1 "${few[@]}" --save one.safetensors
check "one thread and two learn the same" cmp one.safetensors two.safetensors
run "$program" --device cpu "${few[@]}" --model transformer --temperature 0.1
on_cpu "a transformer learns" learns
on_cpu "and writes" says "abcdefghabcdefghabcdefghabcdefg"

# refused WORDS OPTION...: whether the program says so before it trains.
refused() {
  local words=$1
  shift
  run "$program" --device "$device" "$@"
  ended_with 1 && says "$words" && silent_about 'epoch 1/'
}
check "a file that is not there" refused "none.txt" --text none.txt
printf 'short' >short.txt
check "a text that is too short" refused "09_text: a text of 5 characters (want 1280 or more: 20 windows)" --text short.txt
for ((i = 0; i < 2000; ++i)); do printf 'a'; done >same.txt
check "a text of one character" refused "09_text: the text has 1 different characters (want 2 or more)" --text same.txt
check "a prompt with other characters" refused "09_text: the text has no 'Z'" --prompt Zoo
check "no temperature" refused "09_text: --temperature 0 (want 0.01 or more)" --temperature 0
check "no epochs" refused "09_text: --epochs 0 (want 1 or more)" --epochs 0
check "another network's file" refused "lstm.weight_ih_l0" --text letters.txt --window 4 --load text.safetensors
check "another text's file" refused "two.safetensors" --load two.safetensors

finish
