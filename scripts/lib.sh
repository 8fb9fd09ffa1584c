# Shared by the scripts. Sourced, not run.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
beside=$root/../shared  # may contain real data for tests

# Messages go to stderr: stdout belongs to the programs.
say() { printf 'gpunet: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

# Packages of commands with a different name. doctest, zlib and stb are headers, python3-venv a module, and the libraries
# of clang's sanitizers and of its fuzzer are needed after clang++ itself.
declare -A package_of=([clang++]=clang [clang-sanitizers]=libclang-rt-dev [clang-fuzzer]=libclang-rt-dev [ninja]=ninja-build
  [doctest]=doctest-dev [zlib]=zlib1g-dev [stb]=libstb-dev
  [mpicxx.openmpi]=libopenmpi-dev [mpicxx.mpich]=libmpich-dev)

is_here() {
  if [[ $1 == doctest ]]; then
    [[ -e /usr/include/doctest/doctest.h || -e /usr/local/include/doctest/doctest.h ]]
  elif [[ $1 == clang-sanitizers ]]; then
    clang++ -fsanitize=address,undefined -x c++ - -o /dev/null <<<'int main() {}' 2>/dev/null
  elif [[ $1 == clang-fuzzer ]]; then
    clang++ -fsanitize=fuzzer -x c++ - -o /dev/null 2>/dev/null \
      <<<'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
  elif [[ $1 == zlib ]]; then
    [[ -e /usr/include/zlib.h || -e /usr/local/include/zlib.h ]]
  elif [[ $1 == stb ]]; then
    [[ -e /usr/include/stb/stb_image.h || -e /usr/local/include/stb/stb_image.h ]]
  elif [[ $1 == python3-venv ]]; then
    python3 -c 'import ensurepip' 2>/dev/null
  else
    command -v "$1" >/dev/null
  fi
}

# print_progress LOG: prints each tenth of the progress in a growing log of ninja ("[12/379] ..."),
# make ("[ 12%] ...") or ctest ("12/379 Test ..."). Runs until it is killed or its caller ends.
print_progress() {
  local line percent printed=0 pause
  exec {pause}<> <(:)
  while kill -0 $$ 2>/dev/null; do
    while IFS= read -r line; do
      if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] || $line =~ ^\ *([0-9]+)/([0-9]+)\ Test ]]; then
        percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      elif [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then
        percent=${BASH_REMATCH[1]}
      else
        continue
      fi
      # Near the end, the total time follows.
      if [[ $((percent / 10 * 10)) -gt $printed && $percent -lt 98 ]]; then
        printed=$((percent / 10 * 10))
        printf '%d %% ' "$printed" >&2
      fi
    done
    read -rt 1 -u "$pause" || true  # a pause without a process, which could outlive this one
  done <"$1"
}

# with_progress LOG COMMAND...: runs the command with all output in the log, and prints its progress.
with_progress() {
  local log=$1 status=0 progress
  shift
  : >"$log"
  print_progress "$log" </dev/null >/dev/null &
  progress=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  { kill "$progress" && wait "$progress"; } 2>/dev/null || true
  return "$status"
}

# print_failure LOG: prints 40 lines of a log: from its first error on, to the next step of ninja and
# without the long command line; the last ones if there is no error.
print_failure() {
  local lines line i first=-1 errors='^FAILED:|^CMake Error|^E: |error:|Error [0-9]'
  mapfile -t lines <"$1"
  for i in "${!lines[@]}"; do
    if [[ ${lines[i]} =~ $errors ]]; then
      first=$i
      break
    fi
  done
  if [[ $first == -1 ]]; then first=$((${#lines[@]} > 40 ? ${#lines[@]} - 40 : 0)); fi
  for ((i = first; i < ${#lines[@]} && i < first + 40; ++i)); do
    line=${lines[i]}
    if [[ $i -gt $first && $line =~ ^\[[0-9]+/[0-9]+\] ]]; then break; fi
    if [[ ${lines[first]} == FAILED:* && $i == $((first + 1)) ]]; then continue; fi
    printf '%s\n' "$line" >&2
  done
}

# run_quietly LOG WHAT COMMAND...: prints one line for WHAT, with its progress and its time, and the
# first error if the command fails. If run_limit is set, the command is ended after that many
# seconds, with status 124.
run_limit=
run_quietly() {
  local log=$1 what=$2 start=$SECONDS status=0
  shift 2
  printf 'gpunet: %s ... ' "$what" >&2
  with_progress "$log" ${run_limit:+timeout --kill-after=5 "$run_limit"} "$@" || status=$?
  if [[ $status == 0 ]]; then
    printf '%d s\n' $((SECONDS - start)) >&2
  elif [[ -n $run_limit && ($status == 124 || $status == 137) ]]; then
    printf 'cut after %d s\n' $((SECONDS - start)) >&2
  else
    printf 'failed\n' >&2
    print_failure "$log"
    say "$what failed, its first error is above, its log is $log"
  fi
  return "$status"
}

# fill_between NAME PAGE TABLES: replaces the lines between the markers of NAME in the file PAGE by the file TABLES.
fill_between() {
  local name=$1 page=$2 tables=$3 filled
  filled=$(mktemp)
  if awk -v tables="$tables" -v name="$name" '
      index($0, "<!-- " name ": begin") == 1 { markers = markers "begin "; print; print ""
                                               while ((getline line <tables) > 0) print line
                                               print "" }
      index($0, "<!-- " name ": end") == 1 { markers = markers "end" }
      markers != "begin " { print }
      END { exit markers != "begin end" }' "$page" >"$filled"; then
    cat "$filled" >"$page"
    rm -f "$filled"
  else
    rm -f "$filled"
    say "$page: the tables were not filled in (want one line '<!-- $name: begin ...' and after it one" \
      "'<!-- $name: end -->'), restore them"
    return 1
  fi
}

# readme_program [README]: prints the first C++ program of the README, which must be complete.
readme_program() {
  local readme=${1:-$root/README.md} program
  program=$(awk '/^```cpp$/ { inside = 1; next } inside && /^```$/ { exit } inside' "$readme")
  [[ $program == *'int main('* ]] || fail "$readme: the first block of C++ has no main"
  printf '%s\n' "$program"
}

# need COMMAND...: installs the packages of missing commands.
need() {
  local command package packages=() apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y) log
  for command in "$@"; do
    is_here "$command" || packages+=("${package_of[$command]:-$command}")
  done
  [[ ${#packages[@]} -gt 0 ]] || return 0

  command -v apt-get >/dev/null ||
    fail "missing: ${packages[*]} (there is no apt-get here), install them and run this again"
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      fail "missing: ${packages[*]} (installing needs root or sudo), run as root: apt-get install ${packages[*]}"
    apt=(sudo "${apt[@]}")
  fi

  log=$(mktemp)
  run_quietly "$log" "updating the package lists" "${apt[@]}" update || say "continuing with the old lists"
  for package in "${packages[@]}"; do
    run_quietly "$log" "installing $package" "${apt[@]}" install --no-install-recommends "$package" ||
      fail "the package $package could not be installed (apt-get says why above), install it and run this again"
  done
  rm -f "$log"
}

# need_compiler: installs a g++ that is new enough, unless CXX names a compiler. Ubuntu 22.04 has 12 beside its default 11.
need_compiler() {
  [[ -z ${CXX:-} ]] || return 0
  need g++
  if [[ $(g++ -dumpversion | cut -d . -f 1) -lt 12 ]]; then
    need g++-12
    export CXX=g++-12 CUDAHOSTCXX=g++-12
  fi
}

# Prints the seconds that are left until GPUNET_DEADLINE (of `date +%s`), at least 1; nothing without one.
seconds_left() {
  [[ -n ${GPUNET_DEADLINE:-} ]] || return 0
  local now left
  printf -v now '%(%s)T' -1  # date may not be in PATH
  left=$((GPUNET_DEADLINE - now))
  echo $((left > 1 ? left : 1))
}

# Has ccache, if it is installed, store compiled objects, also for copies of the project in other folders.
# Names of folders, times of headers and the language of messages do not matter to it; precompiled
# headers are stored too.
use_ccache() {
  command -v ccache >/dev/null || return 0
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime,locale}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
  export CMAKE_CUDA_COMPILER_LAUNCHER=${CMAKE_CUDA_COMPILER_LAUNCHER:-ccache}
}

# configure BUILD_DIR OPTION...: runs cmake, for ninja if available and make otherwise. A build folder of other sources is
# deleted first.
configure() {
  local build=$1 generator=Ninja
  use_ccache
  shift
  command -v ninja >/dev/null || generator='Unix Makefiles'
  if [[ -e $build/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
    rm -rf "$build"
  fi
  mkdir -p "$build"
  run_quietly "$build/configure.log" "configuring ${build##*/}" cmake -S "$root" -B "$build" -G "$generator" "$@"
}

# build BUILD_DIR [TARGET...]: builds the targets, or all, and shows every error. At GPUNET_DEADLINE it is cut, and the end of
# its log is shown.
build() {
  local build=$1 go_on=(-k 0) status=0 left
  left=$(seconds_left)
  local run_limit=$run_limit  # the caller's, if that is shorter
  if [[ -n $left && (-z $run_limit || $left -lt $run_limit) ]]; then run_limit=$left; fi
  shift
  command -v ninja >/dev/null || go_on=(-k -j "$(nproc)")
  run_quietly "$build/build.log" "building ${build##*/}" cmake --build "$build" ${1:+--target "$@"} -- "${go_on[@]}" ||
    status=$?
  if [[ $status == 124 || $status == 137 ]]; then
    say "the time of all phases is over; the last that was built:"
    tail -n 5 "$build/build.log" >&2
  fi
  return "$status"
}

# build_for_host TARGET: builds a target of the preset host in build/host, and installs what that needs.
build_for_host() {
  need_compiler
  need cmake ninja doctest
  configure "$root/build/host" --preset host
  build "$root/build/host" "$1"
}

# Sets GPUNET_TEST_DATA, for the tests on real data, to the data beside the project; without data, they skip.
use_real_data() {
  if [[ -z ${GPUNET_TEST_DATA:-} && -d $beside/data ]]; then
    GPUNET_TEST_DATA=$(cd "$beside/data" && pwd)
    export GPUNET_TEST_DATA
  fi
}

# Sets `nvcc` to the one in PATH or in the usual folder; false if there is none.
find_nvcc() {
  nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
  [[ -x $nvcc ]]
}

# Sets `simulator` to the folder of the simulator's libraries: GPUNET_CUDA_SIMULATOR, or built from tools/cudasim; empty if that
# does not support the machine or its nvcc. False if they do not compile. After find_nvcc.
find_simulator() {
  local toolkit
  simulator=${GPUNET_CUDA_SIMULATOR:+$(realpath -m "$GPUNET_CUDA_SIMULATOR")}
  if [[ -n $simulator ]] || ! grep -qsw avx2 /proc/cpuinfo || ! "$nvcc" --version | grep -q 'release 13\.'; then
    return 0
  fi
  simulator=$root/build/cudasim
  mkdir -p "$simulator"
  toolkit=$(realpath "$nvcc")
  run_quietly "$simulator.log" "building the simulator of the GPU" \
    env CUDA_HOME="${toolkit%/bin/nvcc}" "$root/tools/cudasim/build.sh" "$simulator"
}

# Prints GPUNET_CUDA for programs that will run here: nvcc takes minutes, which is worthwhile only with a GPU.
cuda_here() {
  if nvidia-smi -L >/dev/null 2>&1; then echo AUTO; else echo OFF; fi
}
