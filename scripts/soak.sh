#!/usr/bin/env bash
# soak.sh [MINUTES]: trains, saves, loads and predicts in turns for MINUTES (60): results must not change, and memory, threads and open
# files not grow. Installs missing packages (Debian, Ubuntu).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

minutes=${1:-60}
[[ $# -le 1 && $minutes =~ ^[1-9][0-9]*$ ]] || fail "soak.sh: unknown arguments '$*', want nothing or a number of minutes"
build_for_host gpunet_soak
"$root/build/host/tests/soak/gpunet_soak" $((minutes * 60))
