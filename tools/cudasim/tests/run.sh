#!/usr/bin/env bash
# run.sh LIBRARIES WORK [--all]: tests the libraries that build.sh has put into the folder LIBRARIES; programs and logs go to
# the folder WORK. --all: also CUB and Thrust, and code for sm_75. nvcc is CUDACXX, or that of CUDA_HOME (/usr/local/cuda).
set -euo pipefail
usage='usage: run.sh LIBRARIES WORK [--all]'
[[ $# == 2 || ($# == 3 && $3 == --all) ]] || {
  echo "$usage" >&2
  exit 2
}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
libraries=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
programs=(tests.90)
[[ $# == 2 ]] || programs+=(tests.75 cccl.75 cccl.90)
nvcc=${CUDACXX:-${CUDA_HOME:-/usr/local/cuda}/bin/nvcc}

# compile PROGRAM.ARCHITECTURE, unless it is newer than its sources. -fmad=false: the test diff compares with g++'s code.
compile() {
  local program=$work/$1 source=$here/${1%.*}.cu options=(-lcublas -lcublasLt)
  [[ ! -e $program || -n $(find "$here" -newer "$program" -print -quit) ]] || return 0
  [[ ! -e $libraries/libnccl.so ]] || options+=(-DCUDASIM_TEST_NCCL -lnccl)
  "$nvcc" ${CUDAHOSTCXX:+-ccbin "$CUDAHOSTCXX"} -std=c++20 -O1 -fmad=false --extended-lambda "-arch=sm_${1#*.}" \
    -cudart shared "$source" -o "$program" "-L$libraries" "${options[@]}" >"$program.build.log" 2>&1
}
pids=()
for program in "${programs[@]}"; do
  compile "$program" &
  pids+=($!)
done
for i in "${!programs[@]}"; do
  wait "${pids[i]}" || {
    cat "$work/${programs[i]}.build.log"
    exit 1
  }
done

export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
passed=0 failed=0
result() {  # result STATUS NAME
  if [[ $1 == 0 ]]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'failed: %s\n%s\n' "$2" "$(tail -n 20 "$work/$2.log")"
  fi
}
# run_test NAME PROGRAM TEST [ARGUMENT]: passes with exit status 0.
run_test() {
  local name=$1 status=0
  shift
  timeout 300 "$@" >"$work/$name.log" 2>&1 </dev/null || status=$?
  result "$status" "$name"
}
# run_bugs PROGRAM: each mode passes when its output matches the expression in bugs.txt.
run_bugs() {
  local mode expression name status
  while IFS=: read -r mode expression; do
    name=${1##*/}.bugs.$mode status=0
    # The shell's own report of a signal is dropped.
    { (CUDASIM_SEED=3 CUDASIM_RESIDENT=8 CUDASIM_MAX_INSTS=20000000 timeout 100 "$1" bugs "$mode") \
      >"$work/$name.log" 2>&1 </dev/null; } 2>/dev/null || true
    grep -qE -- "$expression" "$work/$name.log" || status=1
    result "$status" "$name"
  done < <(grep -v '^#' "$here/bugs.txt")
}

for program in "${programs[@]}"; do
  for schedule in 0 1 '1 1' '1 2'; do  # CUDASIM_ASYNC CUDASIM_SEED
    read -r async seed <<<"$schedule"
    export CUDASIM_ASYNC=$async
    if [[ -n $seed ]]; then export CUDASIM_SEED=$seed; else unset CUDASIM_SEED; fi
    for test in $("$work/$program"); do
      name=$program.$test.async$async${seed:+.seed$seed}
      case $test in
        async) [[ -n $seed ]] || run_test "$name" "$work/$program" async "$async" ;;
        bugs) ;;
        cooperative)
          run_test "$name" "$work/$program" cooperative 4
          CUDASIM_SMS=132 run_test "$name.132" "$work/$program" cooperative 132
          ;;
        devices)
          for count in 0 1 3; do
            CUDASIM_DEVICES=$count run_test "$name.devices$count" "$work/$program" devices "$count"
          done
          ;;
        nccl) CUDASIM_DEVICES=4 run_test "$name" "$work/$program" nccl ;;
        *) run_test "$name" "$work/$program" "$test" ;;
      esac
    done
  done
  unset CUDASIM_ASYNC CUDASIM_SEED
  [[ $program != tests.* ]] || run_bugs "$work/$program"
done
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
