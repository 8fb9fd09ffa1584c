#!/usr/bin/env bash
# compile_bench.sh [option...] [CASE...]: measures what compiling a program costs: user seconds and peak memory of
# `-std=c++20 -O2 -c` for each case (all, unless some are named) by g++, clang++ and nvcc (-x cu), those that are installed;
# header-only, with the compiled library (but nvcc), and with that for Cuda, where all but nvcc compile plain C++; in comparison
# with LibTorch in the same run.
#   --runs N      compile everything N times and take the medians (default 3)
#   --limit S     end a compiler that takes more than S seconds of processor time (default 300)
#   --torch DIR   the folder `torch` of a PyTorch, for LibTorch's headers; else that of GPUNET_BENCH_PYTHON, of the virtual
#                 environment that bench.sh makes, or of python3
#   --before DIR  another checkout of gpunet, header-only, beside this one
#   --quick       g++ only, once
#   --markdown    write the tables into docs/benchmarks.md too
# User seconds hardly depend on other programs that run on the machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cases=(readme)
for lesson in "$root"/examples/0*.cpp; do cases+=("$(basename "$lesson" .cpp)"); done
cases+=(include linear layers_60 layers_120 layers_400 resnet18_types resnet18_values library libtorch)
declare -A title=([readme]="README's program" [include]='the include of gpunet.hpp alone' [linear]='one linear layer, SGD'
  [layers_60]='60 layers' [layers_120]='120 layers' [layers_400]='400 layers' [resnet18_types]='ResNet-18 as types'
  [resnet18_values]='ResNet-18 as functions of values' [library]='the compiled library itself'
  [libtorch]="LibTorch's LeNet")

runs=3 limit=300 torch='' before='' quick='' markdown='' wanted=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --runs | --limit | --torch | --before)
      [[ $# -ge 2 ]] || fail "compile_bench.sh: $1 wants a value"
      declare "${1#--}=$2"
      shift
      ;;
    --quick | --markdown) declare "${1#--}=yes" ;;
    --help | -h)
      sed -n '2,/^set /{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit
      ;;
    -*) fail "compile_bench.sh: unknown option $1, see --help" ;;
    *)
      [[ " ${cases[*]} " == *" $1 "* ]] || fail "compile_bench.sh: there is no case '$1', want some of ${cases[*]}"
      wanted+=("$1")
      ;;
  esac
  shift
done
[[ $runs =~ ^[1-9][0-9]{0,3}$ ]] || fail "compile_bench.sh: --runs is '$runs', want a number from 1"
[[ $limit =~ ^[1-9][0-9]{0,5}$ ]] || fail "compile_bench.sh: --limit is '$limit', want a number of seconds from 1"
[[ -z $torch || -e $torch/include/torch/csrc/api/include/torch/torch.h ]] ||
  fail "compile_bench.sh: --torch is '$torch', which has no include/torch/csrc/api/include/torch/torch.h, name the folder torch of a Python's packages"
[[ -z $before || -e $before/include/gpunet/gpunet.hpp ]] ||
  fail "compile_bench.sh: --before is '$before', which has no include/gpunet/gpunet.hpp, name a checkout of gpunet"
[[ -z $markdown || (-z $quick && ${#wanted[@]} == 0) ]] ||
  fail "compile_bench.sh: --markdown wants whole tables, leave out --quick and the cases"
[[ -z $quick ]] || runs=1
[[ ${#wanted[@]} == 0 ]] || cases=("${wanted[@]}")

need g++ python3
compilers=(g++)
if [[ -z $quick ]]; then
  if command -v clang++ >/dev/null; then compilers+=(clang++); else say "no clang++ here: its table is left out"; fi
  if find_nvcc; then compilers+=(nvcc); else say "no nvcc here: its table is left out"; fi
fi
ways=(header-only)
[[ -z $before ]] || ways=(before "${ways[@]}")
! grep -q GPUNET_COMPILED "$root/include/gpunet/core/config.hpp" || ways+=(compiled)
! grep -q GPUNET_NVCC "$root/include/gpunet/core/config.hpp" || ways+=(cuda)

if [[ -z $torch ]]; then
  for python in "${GPUNET_BENCH_PYTHON:-}" "$root/build/bench_venv/bin/python" python3; do
    where='import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])'
    torch=$("$python" -c "$where" 2>/dev/null) && break
  done || say "no PyTorch here: LibTorch's column is left out (--torch DIR or GPUNET_BENCH_PYTHON names one)"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# training NETWORK SHAPE [INCLUDE]: prints a program that trains `net`, declared by NETWORK, for one step on inputs of SHAPE.
training() {
  cat <<END
#include <gpunet/gpunet.hpp>
${3:+#include <$3>}

using namespace gpunet;

int main(int argc, char** argv) {
  with_device(argc > 1 ? argv[1] : "auto", []<class D>(D& device) {
    $1;
    nn::CrossEntropyLoss criterion;
    optim::SGD optimizer(net, {.lr = 0.1f});
    const Tensor<float, D> inputs(device, {4, $2});
    const Tensor<label_t, D> labels(device, {4});
    criterion(net(inputs), labels).backward();
    optimizer.step();
  });
}
END
}
# layers N LAYERS: a network of LAYERS, N times in a row, and of a linear layer.
layers() {
  local net='nn::Sequential<nn::Input<8, 16, 16>' i
  for ((i = 0; i < $1; ++i)); do net+=", $2"; done
  training "Model<$net, nn::Flatten, nn::Linear<10>>, D> net(device)" '8, 16, 16'
}
convolution='nn::Conv2d<8, 3, nn::Padding<1>>'
echo '#include <gpunet/gpunet.hpp>' >"$work/include.cpp"
training 'Model<nn::Sequential<nn::Input<4>, nn::Linear<3>>, D> net(device)' 4 >"$work/linear.cpp"
layers 20 "$convolution, nn::BatchNorm2d, nn::ReLU" >"$work/layers_60.cpp"
layers 40 "$convolution, nn::BatchNorm2d, nn::ReLU" >"$work/layers_120.cpp"
layers 200 "$convolution, nn::ReLU" >"$work/layers_400.cpp"
resnet=gpunet/networks/resnet.hpp
training 'Model<networks::ResNet18<>, D> net(device)' '3, 224, 224' "$resnet" >"$work/resnet18_types.cpp"
training 'Network net(device, networks::ResNet{}, {3, 224, 224})' '3, 224, 224' "$resnet" >"$work/resnet18_values.cpp"
for part in "$root"/include/gpunet/*/src.cuh; do
  [[ ! -e $part ]] || echo "#include <${part#"$root/include/"}>" >"$work/cuda_$(basename "$(dirname "$part")").cpp"
done
for part in "$root"/include/gpunet/*/src.hpp; do
  [[ ! -e $part ]] || echo "#include <${part#"$root/include/"}>" >"$work/library_$(basename "$(dirname "$part")").cpp"
done

# units COMPILER WAY CASE: sets `units` to the files to compile and `flags` to the flags; false if there is no such case.
units() {
  local compiler=$1 way=$2 name=$3 source=$root
  [[ $way != before ]] || source=$before
  flags=(-std=c++20 -O2 "-I$source/include")
  [[ $way != compiled ]] || flags+=(-DGPUNET_COMPILED=1)
  [[ $way != cuda ]] || flags+=(-DGPUNET_COMPILED=1 -DGPUNET_CUDA=1)
  [[ $compiler != nvcc || $way != compiled ]] || return 1
  [[ $compiler != nvcc ]] || flags+=(-x cu ${CUDAHOSTCXX:+-ccbin "$CUDAHOSTCXX"})
  case $name in
    readme)
      units=("$work/readme_$way.cpp")
      readme_program "$source/README.md" >"${units[0]}"
      ;;
    0*) units=("$source/examples/$name.cpp") ;;
    resnet18_*)
      units=("$work/$name.cpp")
      flags+=("-I$source/examples")
      [[ -e $source/examples/$resnet ]]
      ;;
    library)
      units=("$work"/library_*.cpp)
      [[ $compiler != nvcc ]] || units=("$work"/cuda_*.cpp)
      [[ ($way == compiled && $compiler != nvcc) || ($way == cuda && $compiler == nvcc) ]]
      ;;
    libtorch)
      units=("$root/benchmarks/libtorch_lenet.cpp")
      flags=(-std=c++20 -O2 -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include")
      [[ -n $torch && $way == header-only && $compiler != nvcc ]]
      ;;
    *) units=("$work/$name.cpp") ;;
  esac
}

# measure LIMIT LOG COMPILER FILE... -- FLAG...: compiles each file; prints user seconds, peak memory in MB and the outcome.
measure() {
  python3 -c '
import resource, subprocess, sys
limit, log, compiler, *rest = sys.argv[1:]
files, flags = rest[:rest.index("--")], rest[rest.index("--") + 1:]
resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
with open(log, "w") as output:
    good = all(subprocess.call([compiler, *flags, "-c", file, "-o", log + ".o"], stdout=output, stderr=output) == 0
               for file in files)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cut = used.ru_utime + used.ru_stime >= 0.8 * int(limit)  # the system counts in ticks when it enforces the limit
print(f"{used.ru_utime:.2f} {used.ru_maxrss * 1.024e-3:.0f}", "ok" if good else "cut" if cut else "failed")
' "$@"
}

# Lines "user seconds, MB" of each COMPILER/WAY/CASE, and the outcome of the last run.
declare -A measured state
for ((run = 1; run <= runs; ++run)); do
  for compiler in "${compilers[@]}"; do
    for way in "${ways[@]}"; do
      for name in "${cases[@]}"; do
        key=$compiler/$way/$name
        [[ ${state[$key]:-ok} == ok ]] || continue
        units "$compiler" "$way" "$name" || continue
        command=$compiler
        [[ $compiler != nvcc ]] || command=$nvcc
        read -r seconds megabytes went < <(measure "$limit" "$work/log" "$command" "${units[@]}" -- "${flags[@]}")
        state[$key]=$went
        measured[$key]+="$seconds $megabytes"$'\n'
        say "$key: $seconds s, $megabytes MB$([[ $went == ok ]] || echo ", $went")"
        [[ $went != failed ]] || head -n 5 "$work/log" >&2
      done
    done
  done
done

# median KEY COLUMN
median() { cut -d ' ' -f "$2" <<<"${measured[$1]%$'\n'}" | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
# cells KEY REFERENCE: the three cells of a table: seconds, MB, and the share of the seconds of LibTorch.
cells() {
  case ${state[$1]:-none} in
    ok) awk -v s="$(median "$1" 1)" -v m="$(median "$1" 2)" -v of="${2:-0}" \
      'BEGIN { printf " %.*f | %d | %s |", (s < 10) ? 2 : 1, s, m, (of > 0) ? sprintf("%.2f", s / of) : "-" }' ;;
    cut) printf ' over %s | %s | - |' "$limit" "$(median "$1" 2)" ;;
    failed) printf ' fails | - | - |' ;;
    none) printf ' - | - | - |' ;;
  esac
}
# table COMPILER: its cases, beside LibTorch by the same compiler, or by g++ for nvcc.
table() {
  local compiler=$1 reference='' way name line key
  key=${compiler/nvcc/g++}/header-only/libtorch
  [[ ${state[$key]:-} != ok ]] || reference=$(median "$key" 1)
  line='| case |'
  for way in "${ways[@]}"; do line+=" $way, s | MB | of LibTorch |"; done
  printf '%s\n|---|%s\n' "$line" "$(sed 's/[^|]//g; s/^||//; s/|/--:|/g' <<<"$line")"
  for name in "${cases[@]}"; do
    line="| ${title[$name]:-\`$name\`} |"
    for way in "${ways[@]}"; do line+=$(cells "$compiler/$way/$name" "$reference"); done
    [[ ${line#*|*|} =~ ^( - \|)+$ ]] || printf '%s\n' "$line"
  done
}
version() {  # CMakeLists.txt had the number before there was a version.hpp
  sed -nE 's/^(#define GPUNET_VERSION "|project\(gpunet VERSION )([0-9.]+).*/\2/p;T;q' \
    "$1/include/gpunet/version.hpp" "$1/CMakeLists.txt" 2>/dev/null || true
}
tables() {
  printf -- '- Date: %s\n- Processor: %s\n' "$(date +%F)" "$(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo)"
  printf -- '- gpunet: %s%s\n' "$(version "$root")" "${before:+, before: $(version "$before")}"
  [[ -z $torch ]] || printf -- '- LibTorch: %s\n' "$(sed -nE "s/^__version__ = '(.*)'/\1/p" "$torch/version.py")"
  printf -- '- User seconds (other programs may have run beside), %s\n' \
    "$([[ $runs == 1 ]] && echo 'one run' || echo "medians of $runs runs")"
  for compiler in "${compilers[@]}"; do
    case $compiler in
      nvcc) printf '\nnvcc %s with -x cu, beside LibTorch by g++:\n\n' "$("$nvcc" --version | sed -nE 's/.*release ([0-9.]+).*/\1/p')" ;;
      *) printf '\n%s %s:\n\n' "$compiler" "$("$compiler" -dumpfullversion 2>/dev/null || "$compiler" -dumpversion)" ;;
    esac
    table "$compiler"
  done
}

tables >"$work/tables.md"
cat "$work/tables.md"
if [[ -n $markdown ]]; then
  fill_between compile_bench "$root/docs/benchmarks.md" "$work/tables.md"
  say "docs/benchmarks.md has the tables now."
fi
