#!/usr/bin/env bash
# scripts/speed.sh: README.md has the figures of the table in docs/benchmarks.md, and bench.sh
# writes both.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

run "$root/scripts/speed.sh"
check "there is a table" says "| training steps | "
speed=$(sed -n '/^<!-- speed: begin/,/^<!-- speed: end/p' "$root/README.md" | sed '1,2d; $d' | sed '$d')
run diff <("$root/scripts/speed.sh") <(echo "$speed")
check "README.md has its figures, else: scripts/speed.sh --write" ended_with 0
run grep -nE '[0-9] times (as fast|PyTorch)' "$root/README.md"
check "and no others about PyTorch" ended_with 1

copy_project
mkdir "$project/docs"
page=$project/docs/benchmarks.md
table() {
  cat <<'END'
# Benchmarks

- Date: 2026-01-02
- Processor: a processor
- Ours: gpunet
- Opponent: PyTorch 2 and ONNX Runtime 1

| job | threads |  ours ms | PyTorch ms |  ratio |  goal | x 1 thread | of the limit | ours MB | PyTorch MB | ONNX ms |  ratio |  goal |
|-----|--------:|---------:|-----------:|-------:|------:|-----------:|-------------:|--------:|-----------:|--------:|-------:|------:|
| iris          | 1 | 1 | 100 |   100 |  2 |    - |  1 % | 1 | 1 |   - |     - |    - |
| iris          | 2 | 1 |  90 |  90.5 |  2 | 1.00 |  1 % | 1 | 1 |   - |     - |    - |
| cnn_b256      | 1 | 1 | 0.9 | 0.900 |  2 |    - |  1 % | 1 | 1 |   - |     - |    - |
| cnn_infer_b1  | 1 | 1 |   9 |  9.00 |  2 |    - |  1 % | 1 | 1 |   2 |  2.00 | 1.20 |
| cnn_infer_b1  | 2 | 1 |   8 |  8.00 |  2 |    - |  1 % | 1 | 1 |   - |     - |    - |
| gemm_256      | 1 | 1 |   - |     - |  2 |    - |  1 % | 1 | - |   - |     - |    - |

## Compile time

| iris          | 1 | 1 | 1000 | 1000 |  2 |    - |  1 % | 1 | 1 |   - |     - |    - |
END
}
table >"$page"
run "$project/scripts/speed.sh"
check "the least and the largest ratio of each kind" \
  says "| training steps | 0.900 (\`cnn_b256\`) to 100 (\`iris\`) | 90.5 (\`iris\`) to 90.5 (\`iris\`) |"
check "of ONNX Runtime where it was measured" \
  says "| inference for one sample: ONNX Runtime | 2.00 (\`cnn_infer_b1\`) to 2.00 (\`cnn_infer_b1\`) | - |"
check "nothing of jobs without a comparison" silent_about "matrix products"
check "the versions" says "(a processor, PyTorch 2 and ONNX Runtime 1, 2026-01-02)."

printf '%s\n' before '<!-- speed: begin -->' old '<!-- speed: end -->' after >"$project/README.md"
run "$project/scripts/speed.sh" --write
check "it is written between the markers" grep -q "| training steps |" "$project/README.md"
check "in the place of the old" eval '! grep -qx old "$project/README.md"'
check "with the lines around them" grep -qx after "$project/README.md"

grep -v iris "$page" | grep -v cnn >"$page.new" && mv "$page.new" "$page"
run "$project/scripts/speed.sh"
check "a table without PyTorch is an error" says "no table with ratios, write it by bench.sh --markdown docs/benchmarks.md"

# As bench.sh calls it.
fake_benchmarks
fake driver <<'END'
[[ $1 == --dry-run ]] || cp "$work/table" "$work/project/docs/benchmarks.md"
END
table >"$work/table"
for option in "--markdown $page" "--markdown=$page"; do
  printf '%s\n' '<!-- speed: begin -->' old '<!-- speed: end -->' >"$project/README.md"
  GPUNET_BENCH_PYTHON=$work/bin/with_torch run "$project/scripts/bench.sh" --quick $option
  check "bench.sh $option writes README.md too" grep -q "| training steps |" "$project/README.md"
done
printf '%s\n' '<!-- speed: begin -->' old '<!-- speed: end -->' >"$project/README.md"
GPUNET_BENCH_PYTHON=$work/bin/with_torch run "$project/scripts/bench.sh" --quick --markdown elsewhere.md
check "but not for another page" grep -qx old "$project/README.md"

finish
