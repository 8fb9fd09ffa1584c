#!/usr/bin/env bash
# scripts/compile_bench.sh with fake compilers, which only note what they are called with, in a small project.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

copy_project
bench=$project/scripts/compile_bench.sh
page=$project/docs/benchmarks.md
mkdir -p "$project"/{docs,examples,benchmarks,include/gpunet/core} "$work/torch/include/torch/csrc/api/include/torch" "$work/old/include/gpunet"
touch "$project/examples/01_first.cpp" "$project/examples/02_second.cpp" "$project/include/gpunet/gpunet.hpp" \
  "$project/include/gpunet/core/config.hpp" "$project/benchmarks/libtorch_lenet.cpp" \
  "$work/torch/include/torch/csrc/api/include/torch/torch.h" "$work/old/include/gpunet/gpunet.hpp"
echo "__version__ = '2.0'" >"$work/torch/version.py"
for folder in "$project" "$work/old"; do
  printf '```cpp\nint main() {}\n```\n' >"$folder/README.md"
  echo 'project(gpunet VERSION 1.2.3 LANGUAGES CXX)' >"$folder/CMakeLists.txt"
done
for compiler in g++ clang++ nvcc; do
  fake "$compiler" <<'END'
case $* in
  -dump* | --version) echo "release 12.0"; exit ;;
esac
echo "${0##*/} $*" >>"$calls"
# Seconds that can be measured.
end=$((${EPOCHREALTIME/[.,]/} + 30000))
for ((i = 0; i < 5000 || ${EPOCHREALTIME/[.,]/} < end; ++i)); do :; done
case $* in
  *"${broken:-nothing}"*) echo "the compiler's own words"; exit 1 ;;
  *"${endless:-nothing}"*) while :; do :; done ;;
esac
END
done
unset GPUNET_BENCH_PYTHON CUDAHOSTCXX CUDA_HOME
torch=(--torch "$work/torch")

refuses() { # refuses WORDS ARGUMENT...
  local words=$1
  shift
  run "$bench" "$@"
  check "'$*' is refused" says "$words"
  check "with an error" ended_with 1
}
refuses "compile_bench.sh: unknown option --fast, see --help" --fast
refuses "there is no case 'lenet', want some of readme 01_first 02_second include linear layers_60" lenet
for runs in 0 ten ''; do refuses "--runs is '$runs', want a number from 1" --runs "$runs"; done
refuses "--limit is '-3', want a number of seconds from 1" --limit -3
refuses "--limit wants a value" --limit
refuses "--torch is '$work', which has no include/torch/csrc/api" --torch "$work"
refuses "--before is '$work', which has no include/gpunet/gpunet.hpp" --before "$work"
refuses "--markdown wants whole tables, leave out --quick and the cases" --markdown --quick
refuses "--markdown wants whole tables, leave out --quick and the cases" --markdown readme
check "and nothing is compiled" test ! -s "$calls"
run "$bench" --help
check "--help tells the options" says "--runs N      compile everything N times"
check "and ends well" ended_with 0
if ! command -v python3 >/dev/null; then
  skip 26 "there is no python3"
  finish
  exit
fi

run "$bench" "${torch[@]}" --quick
check "a quick run ends well" ended_with 0
check "it has g++'s table" says "g++ release 12.0:"
check "README's program" says "| README's program | 0."
check "the lessons" says '| `02_second` | 0.'
check "400 layers" says "| 400 layers | 0."
check "LibTorch, once itself" says "| 1.00 |"
check "a library that cannot be compiled is no case" silent_about "the compiled library"
check "and compiled is no column" silent_about "compiled, s"
check "the others are left out" not_called "clang++"
check "each is compiled as a user would" called "g++ -std=c++20 -O2 -I$project/include -c $project/examples/01_first.cpp"
check "LibTorch by its own headers" called "-isystem $work/torch/include -isystem $work/torch/include/torch/csrc/api/include -c"

forget
run "$bench" "${torch[@]}" --runs 2 linear
check "all compilers" says "nvcc 12.0 with -x cu, beside LibTorch by g++:"
check "nvcc takes the unit as CUDA" called "nvcc -std=c++20 -O2 -I$project/include -x cu -c"
check "each so many times" test "$(grep -c ^clang++ "$calls")" = 2
check "it says how many" says "medians of 2 runs"

echo '#define GPUNET_COMPILED 0' >"$project/include/gpunet/core/config.hpp"
touch "$project/include/gpunet/core/src.hpp"
forget
run "$bench" "${torch[@]}" --quick --before "$work/old" readme library
check "a library that can be compiled is a column, and so is another checkout" \
  says "| case | before, s | MB | of LibTorch | header-only, s | MB | of LibTorch | compiled, s | MB | of LibTorch |"
check "with its own headers" called "-I$work/old/include -c"
check "units say that they are of the compiled way" called "-I$project/include -DGPUNET_COMPILED=1 -c"
check "the library is a case" says "| the compiled library itself | - | - | - | - | - | - | 0."

broken=01_first run "$bench" "${torch[@]}" --quick 01_first include
check "a case that does not compile is shown as such" says '| `01_first` | fails | - | - | fails | - | - |'
check "with the compiler's words" says "the compiler's own words"
check "the others go on" says "| the include of gpunet.hpp alone | 0."
endless=01_first run "$bench" "${torch[@]}" --quick --limit 1 01_first
check "one that takes too long is ended" says '| `01_first` | over 1 |'

begin='<!-- compile_bench: begin (a note) -->'
end='<!-- compile_bench: end -->'
printf '%s\n' 'before' "$begin" 'old' "$end" 'after' >"$page"
run "$bench" "${torch[@]}" --runs 1 --markdown
check "the tables go into the page" grep -q "^| README's program | 0" "$page"
check "in place of the old ones" test "$(grep -c '^old$' "$page")" = 0
check "and nothing else changes" test "$(head -n 1 "$page") $(tail -n 1 "$page")" = "before after"

finish
