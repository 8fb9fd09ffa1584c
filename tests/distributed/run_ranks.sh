#!/usr/bin/env bash
# run_ranks.sh -n RANKS PROGRAM ARGUMENTS...: runs processes of this machine with the variables of torchrun, and a simulated GPU for
# each. Returns 0 if all do. Once one has ended otherwise, the others have 10 seconds.
set -uo pipefail
ranks=$2
shift 2
export WORLD_SIZE=$ranks LOCAL_WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + $$ % 12000)) CUDASIM_DEVICES=$ranks
pids=()
for ((rank = 0; rank < ranks; ++rank)); do
  RANK=$rank LOCAL_RANK=$rank "$@" &
  pids+=($!)
done
trap 'kill -KILL "${pids[@]}" 2>/dev/null' EXIT
status=0
for ((i = 0; i < ranks; ++i)); do
  if [[ $status == 0 ]]; then
    wait -n || status=$?
  else
    for ((tenths = 0; tenths < 100; ++tenths)); do
      [[ -n $(jobs -r) ]] || break
      sleep 0.1
    done
    break
  fi
done
exit "$status"
