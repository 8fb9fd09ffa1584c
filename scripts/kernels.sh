#!/usr/bin/env bash
# kernels.sh [--quick|--list|--markdown] [SOURCE FOLDER...]: compiles the kernels of SOURCE for sm_75, sm_80 and sm_90 and checks that
# each can be launched: registers x threads must not exceed the 65536 registers of a block; a kernel without launch bounds
# counts with 1024 threads. (ptxas itself refuses more than 48 KiB of static shared memory.) SOURCE must contain every kernel
# of the headers in the folders. Without arguments, these are the kernels of the library and of the benchmarks. --quick checks for
# sm_90 alone; --list prints all of them, --markdown the table of docs/gpu.md. Needs nvcc (CUDACXX, or in PATH) with its ptxas, but no GPU; exit status 77
# without it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

print=
[[ ${1:-} != --* ]] || {
  print=${1#--}
  shift
}
[[ $print =~ ^(|quick|list|markdown)$ ]] ||
  fail "kernels.sh: unknown option --$print, want --quick, --list, --markdown or nothing"
[[ $# -gt 0 ]] || set -- "$root/tests/cuda/kernels.cpp" "$root/include" "$root/benchmarks/gpu"
source=$1
shift

if [[ -n ${CUDACXX:-} ]]; then nvcc=$CUDACXX; else find_nvcc || true; fi
ptxas=$(dirname "$nvcc")/ptxas
[[ -x $ptxas ]] || ptxas=$(command -v ptxas || true)
[[ -x $nvcc && -x $ptxas ]] || {
  say "skipped: no nvcc with ptxas here, which compile the kernels"
  exit 77
}

architectures='sm_75 sm_80 sm_90'
[[ $print != quick ]] || architectures=sm_90
work=$(mktemp -d)
trap 'wait; rm -rf "$work"' EXIT

# Compiles SOURCE for a compute capability. The code depends on it: tensor cores need 8.0.
to_ptx() {
  "$nvcc" ${CUDAHOSTCXX:+-ccbin "$CUDAHOSTCXX"} -x cu -std=c++20 -DNDEBUG "-I$root/include" "-I$root/benchmarks" \
    "-arch=compute_$1" -ptx "$source" -o "$work/$1.ptx"
}
# assemble PTX ARCHITECTURE: lines "architecture, kernel, most threads, registers, bytes spilled, bytes of shared memory".
assemble() {
  "$ptxas" -v "-arch=sm_$2" "$work/$1.ptx" -o "$work/$2.cubin" 2>"$work/$2.log" || {
    grep -v '^ptxas info\|^  ' "$work/$2.log" >&2
    return 1
  }
  awk -v arch="sm_$2" '
    FNR == NR { if (match($0, /\.entry [^(]+/)) kernel = substr($0, RSTART + 7, RLENGTH - 7)
                if ($1 == ".maxntid") { gsub(",", " "); most[kernel] = $2 * ($3 ? $3 : 1) * ($4 ? $4 : 1) }
                next }
    /Compiling entry function/ { split($0, quoted, "\x27"); kernel = quoted[2]; spilled = 0 }
    / bytes spill stores/ { for (i = 2; i <= NF; ++i) if ($i == "spill" && $(i + 1) ~ /^stores/) spilled += $(i - 2) }
    / Used [0-9]+ registers/ {
      registers = shared = 0
      for (i = 2; i <= NF; ++i) { if ($i ~ /^registers/) registers = $(i - 1); if ($i ~ /^smem/) shared = $(i - 2) }
      print arch, kernel, (kernel in most) ? most[kernel] : "none", registers, spilled, shared }
  ' OFS='\t' "$work/$1.ptx" "$work/$2.log" >"$work/$2.list"
}

if [[ $print != quick ]]; then (to_ptx 75 && assemble 75 75) & fi
to_ptx 80
[[ $print == quick ]] || assemble 80 80
assemble 80 90
[[ $print == quick ]] || wait $!

# Names as in the source, without namespaces and parameters.
for architecture in $architectures; do cat "$work/${architecture#sm_}.list"; done | c++filt |
  sed -E 's/\b(gpunet|bench|detail|nn|utils|optim|train|data|gpu)::|\(anonymous namespace\):://g
    s/\tvoid /\t/; s/\([^\t]*\)\t/\t/; :join; s/> >/>>/; t join' >"$work/all"
count=$(wc -l <"$work/90.list")
[[ $count -gt 0 ]] || fail "kernels.sh: no kernel in $source"

bad=0
awk -F '\t' '
  function up(n, to) { return int((n + to - 1) / to) * to }
  { threads = $3 == "none" ? 1024 : $3
    taken = up($4, 8) * up(threads, 32)  # a warp gets registers 256 at a time
    if (taken > 65536) {
      printf "%s: %s takes %d registers for %d threads (a block has 65536), give it __launch_bounds__\n", $1, $2,
             taken, threads
      bad = 1
    } }
  END { exit bad }' "$work/all" || bad=1

for kernel in $(find "$@" -name '*.cuh' -exec cat {} + | tr '\n' ' ' |
  grep -oP '__global__\s+void\s+(__launch_bounds__\([^()]*\)\s*)?\K\w+(?=\()'); do
  grep -qE "	$kernel(<|	)" "$work/all" || {
    echo "$kernel is not compiled in $source (its registers are unknown), add a use of it"
    bad=1
  }
done

# One line per kernel of the sources (for products, per kind of tile), with the maximum over its instances.
print_markdown() {
  printf '%s\n|---|---:|---:|---|---|---:|\n' \
    "| kernel | instances | threads | registers: ${architectures// / \/ } | bytes spilled | bytes shared |"
  awk -F '\t' -v architectures="$architectures" '
    { kernel = $2
      sub(/<.*/, "", kernel)
      if (match($2, /<(Scalar|Tensor)Math<[^>]*>/)) kernel = kernel substr($2, RSTART, RLENGTH) ", ...>"
      ++instances[kernel, $1]
      threads[kernel] = $3
      if ($4 > registers[kernel, $1]) registers[kernel, $1] = $4
      if ($5 > spilled[kernel, $1]) spilled[kernel, $1] = $5
      if ($6 > shared[kernel]) shared[kernel] = $6 }
    function all(numbers,  a, text) {
      for (a = 1; a <= n; ++a) text = text (a > 1 ? " / " : "") numbers[kernel, name[a]] + 0
      return text
    }
    END {
      n = split(architectures, name, " ")
      for (kernel in threads)
        printf "| `%s` | %d | %s | %s | %s | %d |\n", kernel, instances[kernel, name[n]], threads[kernel],
               all(registers), all(spilled), shared[kernel] }' "$work/all" | LC_ALL=C sort
}

case $print in
  list)
    awk -F '\t' '
      BEGIN { printf "%-5s %7s %9s %7s %6s  %s\n", "arch", "threads", "registers", "spilled", "shared", "kernel" }
      { printf "%-5s %7s %9s %7s %6s  %s\n", $1, $3, $4, $5, $6, $2 }' "$work/all"
    ;;
  markdown) print_markdown ;;
esac
[[ $bad == 0 ]] || exit 1
say "$count kernels fit into a block on $architectures"
