#!/usr/bin/env bash
# regression_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the regression lesson prints PyTorch's losses, and saves a network
# that predicts the same when it is loaded.
set -euo pipefail
checks=9
. "$(dirname "$0")/lesson.sh"

# reference/regression_losses.hpp. A loss is printed with six digits after the point: half a unit of the last one, and as much
# for what 800 steps make of other roundings; on a GPU, where sums have another order, a thousandth.
most=1e-5
[[ $device == cpu ]] || most=1e-3
of_reference() { tr -d '\n' <"$root/tests/reference/regression_losses.hpp" | sed "s/.*$1\[\] = {\([^}]*\)}.*/\1/; s/,/ /g"; }
losses=$(of_reference regression_losses)
held_out=$(of_reference regression_held_out)
has_lines() {
  awk -v losses="$losses" -v held_out="$held_out" -v most="$most" '
    function off(value, expected) { return (value - expected) ^ 2 > (1e-6 + most * expected) ^ 2 }
    BEGIN { n = split(losses, loss, " "); split(held_out, held, " ") }
    /^epoch / {
      ++lines
      if ($2 != 10 * lines - 9 || $3 != "loss" || off($4, loss[lines]) || $5 $6 != "heldout" || off($7, held[lines])) bad = 1
    }
    END { exit bad || lines != n || n != 10 }' <<<"$output"
}

run "$program" --device "$device"
check "the lesson ends well" ended_with 0
check "its lines are PyTorch's" has_lines
check "what it predicts is near" says "petal_width of the rows held out is predicted within 0.167 on average"
check "the network is saved and loaded" says "by the network of regression.safetensors"

printf '%s\n' 'a,b,sum' 1,2,3 2,2,4 3,1,4 1,1,2 2,3,5 0,2,2 1,0,1 2,1,3 3,3,6 0,1,1 >sums.csv
run "$program" --device "$device" --csv sums.csv --batch-size 4 --epochs 400 --save sums.pth
check "another table, its last column the target" says "sum of the rows held out is predicted within 0."
run "$program" --device "$device" --csv sums.csv --target a --batch-size 4 --epochs 3
check "another column" says "a of the rows held out is predicted within"
run "$program" --device "$device" --csv sums.csv --batch-size 4 --lr 1e30
check "a loss that becomes infinite" says "use a smaller --lr, or columns of similar size"
run "$program" --device "$device" --csv sums.csv --target none
check "a column that is not there" says "sums.csv has no column 'none'"
run "$program" --device "$device" --save sums.npy
check "a format for one array" says "06_regression: --save sums.npy (a .npy file holds one array"

finish
