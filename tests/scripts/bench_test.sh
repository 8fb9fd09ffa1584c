#!/usr/bin/env bash
# scripts/bench.sh as on a fresh machine: cmake, python3 and the benchmarks only note what they are called with. And
# both sides of the benchmarks have the same jobs.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

copy_project
bench=$project/scripts/bench.sh

fake_benchmarks
fake driver <<'END'
[[ $* != *--bad* ]] || { echo "error: bad"; exit 1; }
[[ $1 == --dry-run ]] || echo "measuring:$(printf ' <%s>' "$@")"
END
fake without_torch <<<'exit 1'
fake python3 <<'END'
echo "python3 $*" >>"$calls"
[[ $* != *venv* ]] || { [[ -z ${no_venv:-} ]] && mkdir -p "${!#}/bin" && cp "$work/bin/venv_python" "${!#}/bin/python"; }
END
fake venv_python <<'END'
echo "venv $*" >>"$calls"
[[ $* != *pip* || -z ${no_network:-} ]] || exit 1
[[ $* != *onnx* || -z ${no_onnx:-} ]] || exit 1
[[ $* != *pip* ]] || touch "$work/installed"
[[ $* != *import* || -e $work/installed ]]
END
unset CXX GPUNET_BENCH_PYTHON
environment=$project/build/bench_venv/bin/python

run "$bench" --bad
check "bad options end with an error" ended_with 1
check "before PyTorch is fetched" not_called venv

run "$bench" --quick --dry-run
check "a dry run ends well" ended_with 0
check "and fetches nothing" not_called venv

GPUNET_BENCH_PYTHON=$work/bin/with_torch run "$bench" --quick --json "my file"
check "a Python that was named is the opponent" \
  says "measuring: <--python> <$work/bin/with_torch> <--quick> <--json> <my file>"
check "then no environment is made" not_called venv

GPUNET_BENCH_PYTHON=$work/bin/without_torch run "$bench"
check "one without PyTorch is an error" says "without_torch has no PyTorch"
check "and nothing is measured" silent_about measuring

no_venv=yes run "$bench" --quick
check "without an environment it goes on" says "continuing without PyTorch"
check "and measures ours" says "measuring: <--quick>"

no_network=yes run "$bench"
check "the same when pip cannot install" says "continuing without PyTorch"

run "$bench" --quick
check "the environment is made with the newest PyTorch" called "venv -m pip install --upgrade torch numpy"
check "and ONNX Runtime" called "venv -m pip install --upgrade onnx onnxruntime"
check "and has the opponents" says "measuring: <--python> <$environment> <--quick>"
check "all of them" silent_about "continuing without"

forget
run "$bench"
check "the next run takes it as it is" not_called pip
check "as the opponent" says "measuring: <--python> <$environment>"

forget
rm -r "$work/installed" "$project/build/bench_venv"
no_onnx=yes run "$bench" --quick
check "without ONNX Runtime it goes on" says "continuing without ONNX Runtime"
check "with PyTorch" says "measuring: <--python> <$environment> <--quick>"

list() { sed -n '/list{/,/};/p' "$root/benchmarks/jobs.cpp"; }
names() { grep -oE '"[a-z0-9_]+"' | tr -d '"'; }
jobs_of() { sed -n '/^JOBS/,/^}/p' "$root/benchmarks/$1" | names; }
run diff <(list | names) <(jobs_of opponent_jobs.py)
check "both sides have the same jobs" ended_with 0
run diff <(list | grep onnx | names) <(jobs_of opponent_onnx.py)
check "and ONNX Runtime those with a goal for it" ended_with 0
run list
check "and there are some" says iris
check "of ONNX Runtime too" says "onnx = "
run diff <(list | names) <(sed -nE 's/^\| `([a-z0-9_]+)` \|.*/\1/p' "$root/benchmarks/README.md")
check "README.md has the operations and bytes of each" ended_with 0

finish
