#!/usr/bin/env bash
# gpu_pack.sh [--simulated]: compiles all that gpu_device.sh runs for an H100 or H200 (sm_90), on a machine
# without a GPU, and packs it with the sources, doctest's header and Iris into build/pack/gpu.tar.xz
# (--simulated: build/pack_simulated/gpu.tar.xz, for the simulator). Needs the CUDA toolkit, a compiler,
# cmake, git and xz. What has not changed is not compiled again. Variables: as of gpu_check.sh, and
# CMAKE_BUILD_PARALLEL_LEVEL, how many compilers run at a time.
# shellcheck disable=SC2034  # variables of the files that are sourced
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$root/scripts/gpu_report.sh"
. "$root/scripts/gpu_parts.sh"

simulated=
[[ $# == 0 || ($# == 1 && $1 == --simulated) ]] || fail "gpu_pack.sh: unknown arguments '$*', want nothing or --simulated"
for tool in cmake git xz; do
  command -v "$tool" >/dev/null || fail "gpu_pack.sh: found no $tool (it compiles, lists or packs the files), install it"
done
[[ $# == 0 ]] || simulated=yes
packed=
capability=90
build_dir=$root/build/gpu${simulated:+_simulated}
results=$build_dir.check
archive=$root/build/pack${simulated:+_simulated}/gpu.tar.xz
deadline=1000000
part=build
mkdir -p "$results" "${archive%/*}"
use_real_data
export GPUNET_TEST_TIMEOUT=${GPUNET_TEST_TIMEOUT:-$([[ -n $simulated ]] && echo 500 || echo 60)}

: >"$results/build.notes"
{ prepare_probe && run_build; } || true
if has 'bad' build probe; then
  notes_of build probe | cut -f 2- >&2
  exit 1
fi
compiled=$SECONDS

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cd "$root"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$stage"
for program in "$results"/probe_sm_90 "$build_dir"/{tests/cuda/gpunet_tests_cuda,benchmarks/gpu/gpu_{bench,latency}} \
  "$build_dir"/examples/[0-9][0-9]_*; do
  [[ ! -f $program || ! -x $program ]] || install -D -s "$program" "$stage/${program#"$root"/}"
done
find "${build_dir#"$root"/}" \( -name CTestTestfile.cmake -o -name CMakeCache.txt \) -exec cp --parents -t "$stage" {} +
doctest=$(sed -n 's/^GPUNET_DOCTEST_DIR:PATH=//p' "$build_dir/CMakeCache.txt")
install -D -m 644 "$doctest/doctest/doctest.h" "$stage/build/doctest/doctest/doctest.h"
if [[ -d ${GPUNET_TEST_DATA:-}/iris ]]; then
  mkdir -p "$stage/build/data"
  cp -r "$GPUNET_TEST_DATA/iris" "$stage/build/data"
fi
if [[ -n $simulated ]]; then
  mkdir -p "$stage/build/cudasim"
  cp -d "$simulator"/*.so* "$stage/build/cudasim"
  [[ ! -d $build_dir/tests/cuda/cudnn_stub ]] || cp -r --parents "${build_dir#"$root"/}/tests/cuda/cudnn_stub" "$stage"
fi
unpacked=$(du -sm "$stage" | cut -f 1)
# The same kernels are in many programs: the dictionary is larger than they are.
tar -C "$stage" -c . | xz --lzma2=preset=1,dict=128MiB >"$archive.part"
mv "$archive.part" "$archive"
size=$(stat -c %s "$archive")
say "$archive: $((size / 1000000)).$((size / 100000 % 10)) MB, $unpacked MB unpacked," \
  "compiled in $compiled s, packed in $((SECONDS - compiled)) s"
[[ $size -lt 40000000 ]] || fail "gpu_pack.sh: the archive has more than 40 MB, leave something out"
