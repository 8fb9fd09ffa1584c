#!/usr/bin/env bash
# nccl_watch.sh PROGRAM RUN_RANKS: runs processes of which some leave or fail. The others have to end within 15 seconds with a message
# that names them, or not to notice. The last ones meet by a file.
set -euo pipefail
program=$1 run_ranks=$2
folder=$(mktemp -d)
output=$folder/output
trap 'rm -rf "$folder"' EXIT
failed=

# expect RANKS MODE STATUS TEXT...: STATUS is 0 or 1 (any other than 0); the output has to match each text, and not one after "!".
expect() {
  local ranks=$1 mode=$2 want=$3 status=0 start=$SECONDS
  shift 3
  timeout --kill-after=5 60 "$run_ranks" -n "$ranks" "$program" "$mode" >"$output" 2>&1 </dev/null || status=$?
  [[ $((SECONDS - start)) -le 15 ]] || { echo "$mode: took $((SECONDS - start)) s"; failed=1; }
  [[ $((status != 0)) == "$want" ]] || { echo "$mode: status $status"; failed=1; }
  for text in "$@"; do
    if [[ $text == !* ]]; then
      ! grep -qE -- "${text#!}" "$output" || { echo "$mode: '${text#!}' in:"; cat "$output"; failed=1; }
    else
      grep -qE -- "$text" "$output" || { echo "$mode: no '$text' in:"; cat "$output"; failed=1; }
    fi
  done
}

refusal='rank 0: gpunet::distributed: ncclBroadcast fails on rank 0 of 2 \(GPU 0\): '
expect 2 refused 1 "$refusal" 'gpunet::distributed: rank 1 has failed: it has ended with an error of its own' '!goes on'
CUDASIM_ASYNC=0 expect 2 idle 0 "$refusal"
expect 3 rank_0_first 1 'rank 0 has left' 'gpunet::distributed: rank 1 has failed: it has ended with an error of its own' '!goes on'
expect 3 one_leaves 1 'gpunet::distributed: rank 1 has left, and rank [02] waits for it' '!NCCL reports' '!goes on'
expect 3 "file://$folder/meeting" 0
[[ $(ls "$folder") == output ]] || { echo "the meeting left:"; ls "$folder"; failed=1; }
[[ -z $failed ]] || exit 1
echo "the processes have noticed what they should"
