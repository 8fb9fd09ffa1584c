#!/usr/bin/env bash
# pkg_config.sh LIBDIR PACKAGE PROGRAM COMPILER [COMMAND...]: compiles main.cpp to PROGRAM with the flags of
# LIBDIR/pkgconfig/PACKAGE.pc and runs it by COMMAND.
set -euo pipefail
libdir=$1 package=$2 program=$3 compiler=$4
shift 4

command -v pkg-config >/dev/null || { echo "skipped: no pkg-config"; exit 77; }
[[ -e $libdir/pkgconfig/$package.pc ]] || { echo "skipped: no $package.pc, its library was not built"; exit 77; }
export PKG_CONFIG_PATH=$libdir/pkgconfig
flags=$(pkg-config --cflags --libs "$package")
# shellcheck disable=SC2086  # words
"$compiler" -std=c++20 -O2 "$(dirname "$0")/main.cpp" $flags -o "$program"
"$@" "$program"
