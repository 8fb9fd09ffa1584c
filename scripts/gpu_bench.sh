# The part bench of gpu_check.sh. Sourced by it, not run.
# shellcheck shell=bash disable=SC2154  # build_dir, bench_options come from gpu_check.sh

run_benchmarks() {
  local python=${GPUNET_BENCH_PYTHON:-$(command -v python3 || true)} status=0
  local bench=$build_dir/benchmarks/gpu/gpu_bench options=()
  if [[ ! -x $bench ]]; then
    note benchmarks none "there is no program of the benchmarks"
    return 0
  fi
  if [[ -z $python ]] || ! timeout 90 "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' \
    >/dev/null 2>&1 </dev/null; then
    note PyTorch none "no Python with a PyTorch that can use the GPU (GPUNET_BENCH_PYTHON names one): only ours is measured"
  else
    options=(--python "$python")
  fi
  local seconds
  seconds=$(at_least_1 $(($(left) - 10)))  # it ends by itself before it would be cut
  within "$bench" --seconds "$seconds" --json "$build_dir/benchmarks.json" --markdown "$build_dir/benchmarks.md" \
    ${options[@]+"${options[@]}"} ${bench_options[@]+"${bench_options[@]}"} >"$build_dir/benchmarks.txt" 2>"$build_dir/benchmarks.log" || status=$?
  tell "" "$(grep -v '^measured: ' "$build_dir/benchmarks.txt")" ""
  head -c 5000 "$build_dir/benchmarks.log" >&2
  case $status in
    0 | 3)
      note benchmarks ok "measured (see above)"
      note goals "$([[ $status == 0 ]] && echo ok || echo none)" "$(grep -m 1 '^Goals: ' "$build_dir/benchmarks.txt")" ;;
    124 | 137)
      [[ ! -s $build_dir/benchmarks.md ]] || tell "$(<"$build_dir/benchmarks.md")"
      note benchmarks bad "CUT: the time was over" ;;
    *) note benchmarks bad "failed (status $status, see benchmarks.log)" ;;
  esac
}
