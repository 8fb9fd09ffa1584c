#!/usr/bin/env bash
# crash.sh [KILLS]: kills a process that saves checkpoints and weights without a pause, at KILLS random moments (1000), and checks the
# files after each. Installs missing packages (Debian, Ubuntu).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kills=${1:-1000}
[[ $# -le 1 && $kills =~ ^[1-9][0-9]*$ ]] || fail "crash.sh: unknown arguments '$*', want nothing or a number of kills"
build_for_host gpunet_crash
"$root/build/host/tests/faults/gpunet_crash" "$kills"
