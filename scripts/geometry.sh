#!/usr/bin/env bash
# geometry.sh [SEED] [COUNT] [FAMILY], or geometry.sh SEED 'CONFIGURATION': compares COUNT (1000) random
# configurations of each family of ops, or of one, with their plain version in double, on every vector
# path and 1 to 3 threads; or one configuration, as a failure prints it. Without SEED, the time is the
# seed. Installs missing packages (Debian, Ubuntu). If one differs, the exit status is 1.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage="want geometry.sh [SEED] [COUNT] [FAMILY], or geometry.sh SEED 'CONFIGURATION'"
printf -v now '%(%s)T' -1
export GPUNET_GEOMETRY_SEED=${1:-$now}
[[ $# -le 3 && $GPUNET_GEOMETRY_SEED =~ ^[0-9]+$ ]] || fail "geometry.sh: unknown arguments '$*', $usage"
if [[ ${2:-} == *=* ]]; then
  export GPUNET_GEOMETRY=$2
else
  export GPUNET_GEOMETRY_COUNT=${2:-1000} GPUNET_GEOMETRY_FAMILY=${3:-}
  [[ $GPUNET_GEOMETRY_COUNT =~ ^[1-9][0-9]*$ ]] || fail "geometry.sh: '${2:-}' is no number of configurations, $usage"
  [[ -z $GPUNET_GEOMETRY_FAMILY ]] || grep -qsF "\"$GPUNET_GEOMETRY_FAMILY\"" "$root"/tests/geometry/*_test.cpp ||
    fail "geometry.sh: unknown family '$GPUNET_GEOMETRY_FAMILY', $usage"
fi
build_for_host gpunet_tests
"$root/build/host/tests/gpunet_tests" --source-file='*tests/geometry/*'
