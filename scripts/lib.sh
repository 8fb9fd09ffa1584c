# What the scripts share. Sourced by them, not run.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Messages go to stderr: stdout belongs to the programs.
say() { printf 'gpunet: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

# The package that brings a command (or the header doctest) that is missing here; nothing when it is here.
missing_package() {
  case $1 in
    doctest) [[ -e /usr/include/doctest/doctest.h || -n ${GPUNET_DOCTEST_DIR:-} ]] || echo doctest-dev ;;
    *) command -v "$1" >/dev/null || case $1 in
        clang++) echo clang ;;
        ninja) echo ninja-build ;;
        *) echo "$1" ;;
      esac ;;
  esac
}

# need COMMAND...: installs the packages of the commands that are missing. With nothing missing, it only looks.
need() {
  local command package packages=() as_root=()
  for command in "$@"; do
    package=$(missing_package "$command")
    [[ -z $package ]] || packages+=("$package")
  done
  [[ ${#packages[@]} -gt 0 ]] || return 0

  command -v apt-get >/dev/null || fail "missing: ${packages[*]} (there is no apt-get here), install them and run this again"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      fail "missing: ${packages[*]} (installing needs root or sudo), run as root: apt-get install ${packages[*]}"
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)

  say "installing ${packages[*]}"
  "${as_root[@]}" apt-get update -qq </dev/null >&2 || say "the lists of packages could not be renewed, trying with the old ones"
  for package in "${packages[@]}"; do
    "${as_root[@]}" apt-get install -qq -y --no-install-recommends "$package" </dev/null >&2 ||
      fail "the package $package could not be installed (apt-get says why above), install it and run this again"
  done
}

# run_quietly LOG WHAT COMMAND...: one line for WHAT, with its time; the whole log only when the command fails.
run_quietly() {
  local log=$1 what=$2 start=$SECONDS status=0
  shift 2
  printf 'gpunet: %s ... ' "$what" >&2
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [[ $status == 0 ]]; then
    printf '%d s\n' $((SECONDS - start)) >&2
  else
    printf 'failed\n' >&2
    cat "$log" >&2
    say "$what failed, its log is above and in $log"
  fi
  return "$status"
}

# configure BUILD_DIR OPTION...: runs cmake. A build folder that was made for other sources is made again.
configure() {
  local build=$1
  shift
  if [[ -e $build/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
    rm -rf "$build"
  fi
  mkdir -p "$build"
  run_quietly "$build/configure.log" "configuring ${build##*/}" cmake -S "$root" -B "$build" -G Ninja "$@"
}

# build BUILD_DIR [TARGET...]
build() {
  local build=$1
  shift
  run_quietly "$build/build.log" "building ${build##*/}" cmake --build "$build" ${1:+--target "$@"}
}
