#!/usr/bin/env bash
# include_order.sh INCLUDE_DIR: checks that headers include only from their own folder and from folders before it in the
# order, without cycles. gpunet.hpp comes before extras, so it includes none of them.
set -euo pipefail
cd "$1/gpunet"

order=(
  version.hpp core io device functions tensor ops graph nn model optim data distributed train
  gpunet.hpp distributed.hpp functional.hpp images.hpp tables.hpp tensors.hpp thrust.hpp
  networks networks.hpp
  onnx onnx.hpp
  extras datasets.hpp plot.hpp tensorboard.hpp src.hpp src.cuh
)

# One line "file line included-file" for each include of ours, paths from here.
arrows=$(find . -type f -printf '%P\n' | sort | xargs -r awk '
  match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*/) {
    path = substr($0, RSTART, RLENGTH)
    quoted = path ~ /"/
    sub(/^.*[<"]/, "", path)
    if (sub(/^gpunet\//, "", path) || quoted) print FILENAME, FNR, path
  }')

printf '%s\n' "$arrows" | awk -v order="${order[*]}" '
  BEGIN { n = split(order, names, " "); for (i = 1; i <= n; ++i) rank[names[i]] = i }
  function floor(path) { sub(/\/.*/, "", path); return path }
  NF == 3 {
    from = floor($1); to = floor($3)
    if (!(from in rank)) problem = "the folder " from " has no place in the order"
    else if (!(to in rank)) problem = "write it as <gpunet/...>, from a folder of the order"
    else if (rank[to] > rank[from]) problem = from " lies above " to
    else next
    print $1 ":" $2 ": includes " $3 ": " problem; bad = 1
  }
  END { if (bad) print "the order is: " order; exit bad }'

# tsort fails on a cycle and names its members. (x.hpp and its bodies, x.ipp and x.cuh, include each other.)
printf '%s\n' "$arrows" | awk '
  NF == 3 && !($1 ~ /(ipp|cuh)$/ && substr($1, 1, length($1) - 3) "hpp" == $3) { print $1, $3 }
' | tsort 2>&1 >/dev/null | sed 's/^tsort: *//' | {
  ! grep . || { echo "these headers include each other"; exit 1; }
}
echo "$(printf '%s\n' "$arrows" | grep -c .) includes in order"
