#!/usr/bin/env bash
# distributed_bench.sh [JOB...]: steps of training by two processes with one thread each, in comparison with one process with two threads
# and with PyTorch's DistributedDataParallel (gloo), in turns; prints a table. Jobs: lenet_b256 cnn_b256 mlp_b512 vgg_b32 resnet20_b128
# (all). Needs an MPI; PyTorch from GPUNET_BENCH_PYTHON, else without it. GPUNET_BENCH_ROUNDS: how many turns (7).
# distributed_bench.sh tree [JOB...]: what Reduction::fixed_tree costs on one rank and on two, with one thread each. Jobs: lenet_b64
# cnn_b64 lenet_b128 cnn_b128 (all).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_compiler
need cmake ninja
is_here mpirun || need mpicxx.openmpi
build_dir=$root/build/bench
configure "$build_dir" -DCMAKE_BUILD_TYPE=Release -DGPUNET_CUDA=OFF -DGPUNET_BUILD_TESTS=OFF \
  -DGPUNET_BUILD_EXAMPLES=OFF -DGPUNET_BUILD_BENCHMARKS=ON
build "$build_dir" gpunet_distributed_bench
bench=$build_dir/benchmarks/gpunet_distributed_bench
python=${GPUNET_BENCH_PYTHON:-}
rounds=${GPUNET_BENCH_ROUNDS:-7}
tree=
jobs=(lenet_b256 cnn_b256 mlp_b512 vgg_b32 resnet20_b128)
if [[ ${1:-} == tree ]]; then
  tree=1
  jobs=(lenet_b64 cnn_b64 lenet_b128 cnn_b128)
  shift
fi
[[ $# == 0 ]] || jobs=("$@")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # as containers are

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

alone() { "$bench" "$1" 1; }
together() { mpirun -n 2 "$bench" "$1" 1; }
late() { mpirun -n 2 "$bench" "$1@late" 1; }
# pytorch JOB RANKS THREADS
pytorch() {
  local rank
  rm -f "$work/meeting"
  for ((rank = 1; rank < $2; ++rank)); do
    taskset -c "$rank" "$python" "$root/benchmarks/opponent_distributed.py" "$1" 3 "$rank" "$2" "$3" "$work/meeting" &
  done
  if [[ $2 == 1 ]]; then
    "$python" "$root/benchmarks/opponent_distributed.py" "$1" 3 0 1 "$3" "$work/meeting"
  else
    taskset -c 0 "$python" "$root/benchmarks/opponent_distributed.py" "$1" 3 0 "$2" "$3" "$work/meeting"
    wait
  fi
}
ddp() { pytorch "$1" 2 1; }
threads() { pytorch "$1" 1 2; }

# on RANKS JOB: with one thread each.
on() { mpirun -n "$1" --bind-to core "$bench" "$2" 1; }
fast_1() { on 1 "$1"; }
fast_2() { on 2 "$1"; }
tree8_1() { on 1 "$1@tree8"; }
tree8_2() { on 2 "$1@tree8"; }
tree_1() { on 1 "$1@tree1"; }
tree_2() { on 2 "$1@tree2"; }

ways=(alone together late)
[[ -z $python ]] || ways+=(threads ddp)
[[ -z $tree ]] || ways=(fast_1 tree8_1 tree_1 fast_2 tree8_2 tree_2)
# median WAY JOB FIELD: of a number in the lines of a way.
median() { awk -v f="$3" '{ print $f }' "$work/$1.$2" | sort -g | awk '{ x[NR] = $1 } END { printf "%.6g", x[int((NR + 1) / 2)] }'; }
ratio() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

for job in "${jobs[@]}"; do
  for ((round = 1; round <= rounds; ++round)); do
    for way in "${ways[@]}"; do "$way" "$job" >>"$work/$way.$job"; done
  done
  # All sides have the same loss after three steps.
  awk '{ loss = $4 + 0; if (NR == 1) first = loss; d = loss - first; if (d > 1e-3 || d < -1e-3) bad = 1 } END { exit bad }' \
    "$work"/*."$job" || fail "$job: the losses differ: $(cat "$work"/*."$job")"
  say "measured $job"
done

if [[ -n $tree ]]; then
  echo "| job | ranks | fast, ms | fixed_tree, 8 leaves, ms | fixed_tree, as many leaves as ranks, ms |"
  echo "|---|--:|--:|--:|--:|"
  for job in "${jobs[@]}"; do
    for ranks in 1 2; do
      echo "| $job | $ranks | $(median "fast_$ranks" "$job" 1) | $(median "tree8_$ranks" "$job" 1) | $(median "tree_$ranks" "$job" 1) |"
    done
  done
  exit
fi

echo "| job | 1 process, 2 threads, ms | 2 processes, ms | speedup | without overlap, ms | waited, ms | calls | bytes | PyTorch 2 threads, ms | PyTorch DDP, ms | PyTorch DDP / ours |"
echo "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
for job in "${jobs[@]}"; do
  one=$(median alone "$job" 1) two=$(median together "$job" 1) of_torch='| |'
  [[ -z $python ]] || of_torch="$(median threads "$job" 1) | $(median ddp "$job" 1) | $(ratio "$(median ddp "$job" 1)" "$two")"
  echo "| $job | $one | $two | $(ratio "$one" "$two") | $(median late "$job" 1) | $(median together "$job" 9) | $(median together "$job" 5) |" \
    "$(median together "$job" 7) | $of_torch |"
done
