#!/usr/bin/env bash
# playground_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the playground learns, writes a page, and says what is wrong.
set -euo pipefail
checks=15
. "$(dirname "$0")/lesson.sh"

# A simulator gets less to do.
size=(--points 300 --epochs 40)
want=0.1
if [[ $device == cuda ]]; then
  size=(--points 20 --epochs 2 --layers 2)
  want=2
fi

# learned: the lines begin with epoch 0, and the last losses are below `want` and below the first ones.
learned() {
  awk -v want="$want" '/^epoch / {
      test = $6
      sub(/\)/, "", test)
      if (++lines == 1) { first = $4; bad = $2 !~ "^0/" }
      last = $4
    }
    END { exit bad || lines < 3 || !(last < first) || !(last < want) || !(test < want) }' <<<"$output"
}
is_page() { [[ $(head -c 15 "$1") == "<!doctype html>" && $(tail -n 1 "$1") == "</html>" ]] && grep -q '"parameters":"' "$1"; }
no_escapes() { [[ $output != *$'\e'* ]]; }

run "$program" --device "$device" "${size[@]}"
check "it ends well" ended_with 0
check "it learns" learned
check "the page is there" is_page playground.html
check "where it is" says "playground.html is written, open it in a browser"
mv playground.html first.html
run "$program" --device "$device" "${size[@]}"
check "the same again" cmp -s first.html playground.html
run "$program" --device "$device" "${size[@]}" --data xor --layers none --features x1x2 --activation relu --l1 0.01 --l2 0.01 \
  --batch-size 1000 --watch --html 'a&b.html'
check "no hidden layer, one feature, all points at once" is_page 'a&b.html'
check "there is no picture in a pipe" no_escapes

run "$program" --device "$device" --html none/page.html
check "a folder that is not there" says "error: gpunet::io: cannot write none/page.html: No such file or directory"
check "an error ends the program" ended_with 1
check "before anything is learned" silent_about "epoch"
run "$program" --device "$device" --html .
check "a folder" says "it is a folder, give a file in it"
run "$program" --device "$device" --html page.html --noise 200
check "too much noise" says "error: 05_playground: --noise 200 (want 0 to 50)"
check "an error leaves no file" absent page.html

"$program" --device "$device" --points 20 --epochs 100000000 --layers 2 --html stopped.html >lines &
background+=($!)
until grep -q '^epoch 0' lines; do sleep 0.05; done  # from then on it listens
kill -INT $!
status=0
wait $! || status=$?
background=()
check "Ctrl-C ends it" ended_with 130
check "with what was learned" is_page stopped.html

finish
