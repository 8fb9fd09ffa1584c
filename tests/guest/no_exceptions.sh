#!/usr/bin/env bash
# no_exceptions.sh PROGRAM README COMPILER FLAG...: checks how PROGRAM, of no_exceptions.cpp, ends, and that README's program
# compiles without exceptions and run-time type information.
set -euo pipefail
. "$(dirname "$0")/../../scripts/lib.sh"
program=$1 readme=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# ends MODE STATUS TEXT: the program ends with the status after it has written the text.
ends() {
  local status=0 written
  written=$("$program" $1 2>&1) || status=$?
  [[ $status == "$2" ]] || fail "mode '$1': status $status (want $2), and '$written'"
  [[ $written == *"$3"* ]] || fail "mode '$1': wrote '$written' (want '$3' in it)"
}
ulimit -c 0
host='gpunet::Host: -1 threads (want 1 to 1024, or 0 for one per processor)'
ends '' 0 'loss 2.32'
ends default 134 "$host"  # std::abort
ends own 7 "handled: $host"
ends worker 7 'handled: NoImages: image 0 is damaged'

# Without its try block.
readme_program "$readme" | sed 's/^int main(.*) try {$/int main(int argc, char** argv) {/; /^} catch/,$c }' >"$folder/readme.cpp"
! grep -qw 'try\|catch' "$folder/readme.cpp" || fail "README's program has more than one try block"
"$@" -fsyntax-only -fno-exceptions -fno-rtti "$folder/readme.cpp"

# And what README's program does not include.
printf '#include <gpunet/distributed.hpp>\n#include <gpunet/distributed/rendezvous.hpp>\n' >"$folder/distributed.cpp"
"$@" -fsyntax-only -fno-exceptions -fno-rtti "$folder/distributed.cpp"
