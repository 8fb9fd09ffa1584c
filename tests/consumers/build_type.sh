#!/usr/bin/env bash
# build_type.sh FOLDER CMAKE...: configures a project in the folder with and without a build type, and checks the message and the
# flags of every unit.
set -euo pipefail
folder=$1
shift
unset CXXFLAGS CMAKE_BUILD_TYPE

# check WANT FLAG ARGUMENT...: whether (yes, no) the message comes and FLAG is in the commands, for these arguments of CMake.
check() {
  local want=$1 flag=$2 told=no optimized=no units
  shift 2
  rm -rf "$folder"
  output=$("${cmake[@]}" -B "$folder" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" 2>&1) || { echo "$output"; exit 1; }
  [[ $output != *"gpunet: no build type, so the library and what links it are compiled with -O2"* ]] || told=yes
  units=$(grep -c '"command"' "$folder/compile_commands.json")
  [[ $(grep '"command"' "$folder/compile_commands.json" | grep -c -- " $flag ") != "$units" ]] || optimized=yes
  [[ $told == "$want" ]] || { echo "$*: message: $told, want $want"; exit 1; }
  [[ $optimized == yes ]] || { echo "$*: not all of $units units are compiled with $flag"; exit 1; }
  echo "$units units with '$*': $flag"
}

cmake=("$@")
check yes -O2
check no -g -DCMAKE_BUILD_TYPE=Debug
check no -O3 -DCMAKE_BUILD_TYPE=Release
check no -O1 -DCMAKE_CXX_FLAGS=-O1
