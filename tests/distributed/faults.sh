#!/usr/bin/env bash
# faults.sh PROGRAM MPIRUN... (or run_ranks.sh): runs three processes of the program, of which rank 1 fails in every way. All have to end within 20
# seconds with a message that names it, and the checkpoint of rank 0 has to be whole (the next run writes over it).
set -euo pipefail
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect MODE STATUS TEXT...: STATUS is 0 or 1 (any other than 0); the output has to match each text.
expect() {
  local mode=$1 want=$2 status=0 start=$SECONDS
  shift 2
  timeout --kill-after=5 60 "${run[@]}" "$program" "$mode" "$folder" >"$folder/output" 2>&1 </dev/null || status=$?
  [[ $((SECONDS - start)) -le 20 ]] || { echo "$mode: took $((SECONDS - start)) s"; failed=1; }
  [[ $((status != 0)) == "$want" ]] || { echo "$mode: status $status"; failed=1; }
  for text in "$@"; do
    grep -qE -- "$text" "$folder/output" || { echo "$mode: no '$text' in:"; cat "$folder/output"; failed=1; }
  done
  # Only what was saved as a whole is there.
  [[ ! -e $folder/run.safetensors.tmp* ]] || { echo "$mode: a temporary file is left"; failed=1; }
}

run=("$@" -n 3)
[[ $1 != *run_ranks.sh ]] || run=("$@" -n 2)
failed=
expect fine 0
expect exit_together 0
expect throws 1 'rank 1 finds no file' 'gpunet::distributed: rank 1 has failed: it has ended with an error of its own'
expect abandons 1 'gpunet::distributed: rank 1 has failed: it gives up|NCCL reports'
if [[ $1 == *run_ranks.sh ]]; then  # those that differ for NCCL
  expect leaves 1 'gpunet::distributed: rank 1 has left, and rank 0 waits for it|NCCL reports'
  expect killed 1 'gpunet::distributed: rank 1 has ended without a word|NCCL reports'
  expect hangs 1 'gpunet::distributed: rank 0 has waited for the other ranks for 3 s'
else
  expect leaves 1 'gpunet::distributed: rank 1 has left after [0-9]+ calls, and this rank waits in call'
  expect batches 1 'gpunet::distributed: rank [0-9] (waits in call [0-9]+|has left after)'
  expect evaluates 1 'gpunet::distributed: rank [0-9] waits in call [0-9]+ \((all_reduce|broadcast)'
  expect evaluates_alone 1 'gpunet::distributed: rank [0-9] waits in call [0-9]+ \((all_reduce|all_gather)'
  expect freezes 1 'gpunet::distributed: rank [0-9] waits in call [0-9]+ .* (was in|this rank in) call' \
    'call [0-9]+ \(all_gather .*, because it has frozen or unfrozen parameters\)'
  expect breaks 1 'the layer of rank 1 breaks' 'gpunet::distributed: rank 1 has failed: an error has ended its backward pass'
  expect second 1 'Communicator: not all processes have made one within 3 s'
  # The ranks end at once: any of them may be the first that says so.
  expect calls 1 'gpunet::distributed: rank [0-9] has (ended after [01] calls, but rank [0-9] has )?left after [01] calls'
  expect exits_later 1 "gpunet::distributed: rank 1 has ended by exit\(\) after [0-9]+ calls, and this rank waits in call"
  expect exits 1 "gpunet::distributed: rank 1 has ended by exit\(\) after [0-9]+ calls, and this rank waits in call"
  expect killed 1 '(rank 1|RANK 1|Killed|KILLED|EXIT CODE: 9)'
  expect stopped 1 'gpunet::distributed: rank 1 has not come to call [0-9]+ .* of this rank within 3 s'
  expect hangs 1 'gpunet::distributed: rank 1 has not come to call [0-9]+ .* of this rank within 3 s'
  expect fine 0
fi
[[ -z $failed ]] || exit 1
echo "all ways to fail ended with their messages"
