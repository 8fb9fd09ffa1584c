# What the tests of the lessons share. Sourced by them with ROOT DEVICE PROGRAM [PROBE...] and `checks`, how many they have;
# PROBE is a command that ends with 77 where there is no such device. They go on in a folder of their own.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/../scripts/testing.sh"
device=$2
program=$3
shift 3
# Whether the program is too slow to learn something: on another device, which may be simulated, and under sanitizers.
slow=no
[[ $device == cpu && ${GPUNET_TEST_SLOW:-0} == 0 ]] || slow=yes

# skip_all WHY: ends the test with all its checks skipped.
skip_all() {
  skip "$checks" "$1"
  finish
  exit 77
}
[[ $# == 0 ]] || "$@" >/dev/null || skip_all "there is no usable device $device"
cd "$work"
