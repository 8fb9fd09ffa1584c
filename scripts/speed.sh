#!/usr/bin/env bash
# speed.sh [--write]: prints the least and the largest ratios of the table in docs/benchmarks.md,
# for the section "Speed" of README.md; with --write, writes them there.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

page=$root/docs/benchmarks.md
summary=$(mktemp)
trap 'rm -f "$summary"' EXIT
awk -F ' *[|] *' '
  /^- Date: / && !date { date = substr($0, 9) }
  /^- Processor: / && !processor { processor = substr($0, 14) }
  /^- Opponent: / && !opponent { opponent = substr($0, 13) }
  /^## / { exit }
  /^[|] job / { for (i = 2; i <= NF; ++i) if ($i == "ratio") { if (!pytorch) pytorch = i; else onnx = i } }
  function add(group, ratio, key) {
    if (ratio !~ /^[0-9.]+$/) return
    key = group SUBSEP $3
    if (!(key in least) || ratio + 0 < least[key] + 0) { least[key] = ratio; slowest[key] = $2 }
    if (!(key in most) || ratio + 0 > most[key] + 0) { most[key] = ratio; fastest[key] = $2 }
    rows[group]
  }
  pytorch && $3 ~ /^[0-9]+$/ {
    if (!($3 in known)) { known[$3]; threads[++n] = $3 }
    add($2 ~ /_infer/ ? 2 : $2 ~ /^gemm/ ? 4 : $2 ~ /^tensor/ ? 5 : 1, $pytorch)
    if (onnx) add(3, $onnx)
  }
  END {
    if (!n || !(1 in rows)) exit 1
    print "The time of PyTorch, or of ONNX Runtime, divided by that of gpunet: the least and the largest"
    print "ratio of the jobs in [docs/benchmarks.md](docs/benchmarks.md)"
    print "(" processor ", " opponent ", " date ")."
    print ""
    line = "| jobs |"; rule = "|---|"
    for (i = 1; i <= n; ++i) { line = line " " threads[i] (threads[i] == 1 ? " thread |" : " threads |"); rule = rule "---|" }
    print line; print rule
    split("training steps,inference for one sample,inference for one sample: ONNX Runtime,matrix products,functions of tensors",
          names, ",")
    for (group = 1; group <= 5; ++group) {
      if (!(group in rows)) continue
      line = "| " names[group] " |"
      for (i = 1; i <= n; ++i) {
        key = group SUBSEP threads[i]
        line = line (key in least ? " " least[key] " (`" slowest[key] "`) to " most[key] " (`" fastest[key] "`) |" : " - |")
      }
      print line
    }
  }' "$page" >"$summary" || fail "$page: no table with ratios, write it by bench.sh --markdown docs/benchmarks.md"

if [[ ${1:-} == --write ]]; then
  fill_between speed "$root/README.md" "$summary"
else
  cat "$summary"
fi
