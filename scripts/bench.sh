#!/usr/bin/env bash
# bench.sh [option...]: builds the benchmarks and runs them in comparison with PyTorch and ONNX Runtime, in the current folder.
# --help lists the options. The opponents come from GPUNET_BENCH_PYTHON, an interpreter that has them, else from a virtual
# environment under build/, which pip creates if needed, as configured by the user. Without PyTorch only gpunet is measured;
# without ONNX Runtime its columns are left out.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_compiler
need cmake ninja

build_dir=$root/build/bench
configure "$build_dir" -DCMAKE_BUILD_TYPE=Release -DGPUNET_CUDA=OFF -DGPUNET_BUILD_TESTS=OFF \
  -DGPUNET_BUILD_EXAMPLES=OFF -DGPUNET_BUILD_BENCHMARKS=ON
build "$build_dir" bench
bench=$build_dir/benchmarks/bench

has_torch() { "$1" -c 'import torch' >/dev/null 2>&1; }

# Creates the virtual environment; false if that fails. ONNX Runtime is optional: it does not support every Python that PyTorch does.
make_environment() {
  (need python3 python3-venv) && run_quietly "$build_dir/venv.log" "making a virtual environment" \
    python3 -m venv --clear "$environment" &&
    run_quietly "$build_dir/pip.log" "installing the newest PyTorch (once, it is large)" \
      "$environment/bin/python" -m pip install --upgrade torch numpy &&
    has_torch "$environment/bin/python" || return 1
  run_quietly "$build_dir/pip_onnx.log" "installing the newest ONNX Runtime (once)" \
    "$environment/bin/python" -m pip install --upgrade onnx onnxruntime || say "continuing without ONNX Runtime"
}

# Sets `python` to an interpreter that has PyTorch, or to nothing.
find_python() {
  environment=$root/build/bench_venv
  python=${GPUNET_BENCH_PYTHON:-$environment/bin/python}
  if [[ -n ${GPUNET_BENCH_PYTHON:-} ]]; then
    has_torch "$python" || fail "GPUNET_BENCH_PYTHON: $python has no PyTorch (import torch fails), name another or unset it"
  elif ! has_torch "$python" && ! make_environment; then
    say "continuing without PyTorch: set GPUNET_BENCH_PYTHON to a Python that has it to compare"
    python=
  fi
}

# Checks the options before downloading PyTorch.
"$bench" --dry-run "$@"
for argument in "$@"; do
  case $argument in --help | -h | --dry-run) exit 0 ;; esac
done

find_python
"$bench" ${python:+--python "$python"} "$@"

# README.md says what the new table says.
page=
while (($#)); do
  case $1 in
    --markdown) page=${2:-} ;;
    --markdown=*) page=${1#*=} ;;
  esac
  shift
done
if [[ -n $page && $(realpath -m "$page") == "$root/docs/benchmarks.md" ]]; then "$root/scripts/speed.sh" --write; fi
