#!/usr/bin/env bash
# iris_lesson_test.sh ROOT DEVICE PROGRAM [PROBE...]: the Iris lesson prints PyTorch's losses and knows all flowers held out.
set -euo pipefail
checks=9
. "$(dirname "$0")/lesson.sh"

# The lesson's lines; the losses by PyTorch 1.13 on a CPU. On a GPU it differs from them by up to 1e-4. The first loss has
# seen no step: one unit in the last place of a float on a CPU; on a GPU eight, for exp and log (2 and 1 by the CUDA
# programming guide), the sum of three exponentials (2), the difference (1) and the mean (2).
expected="1.15071142 0.93773144 0.77982563 0.60994011 0.40079936 0.25436321 0.15053052 0.10086947 0.08128314 0.07231428"
first=1.1e-7
[[ $device == cpu ]] || first=9.6e-7
has_lines() {
  awk -v expected="$expected" -v first="$first" 'BEGIN { n = split(expected, loss, " ") }
    /^epoch: / {
      ++lines
      off = $4 / loss[lines] - 1
      most = lines == 1 ? first : 2e-4
      if ($1 != "epoch:" || $2 != 10 * lines - 9 || $3 != "loss:" || length($4) != 10 || off * off > most * most) bad = 1
    }
    /^TOTAL TRAINING TIME: [0-9.]+ s$/ { ++times }
    END { exit bad || lines != n || times != 1 }' <<<"$output"
}

run "$program" --device "$device"
check "the lesson ends well" ended_with 0
check "its lines are PyTorch's" has_lines
check "all flowers held out are known" says "30 out of 30 = 100.00% correct"

printf '%s\r\n' '"leaf, cm",width,kind' 1,5.5,a 2,4.5,b 1.5,5.75,a 2.5,4,b 1.25,5,a 2.25,4.25,b >leaves.csv
run "$program" --device "$device" --csv leaves.csv --epochs 300 --lr 0.05
check "another table, its last column the classes" says "2 out of 2 = 100.00% correct"
run "$program" --device "$device" --csv leaves.csv --target width --epochs 0
check "a column of numbers where classes are wanted elsewhere" says "leaves.csv:2: column 'kind': 'a' is not a number"
check "an error ends the program" ended_with 1
run "$program" --device "$device" --csv none.csv
check "a file that is not there" says "cannot read none.csv: No such file"
run "$program" --device "$device" --csv leaves.csv --target none
check "a column that is not there" says "leaves.csv has no column 'none'"
run "$program" --device "$device" --target kind
check "a column of no table" says "02_iris: --target is for --csv FILE"

finish
