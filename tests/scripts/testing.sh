# What the tests of the scripts share. Sourced by them with the root of the project as the first argument.
# shellcheck shell=bash

root=$1
work=$(mktemp -d)
background=()
trap '[[ ${#background[@]} == 0 ]] || kill "${background[@]}" 2>/dev/null; rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# run COMMAND...: keeps its exit status in `status`, and all it prints in `output`.
run() {
  status=0
  output=$("$@" 2>&1 </dev/null) || status=$?
}

# check WHAT COMMAND...: the command must hold.
check() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'failed: %s (%s)\nstatus %s, output:\n%s\n' "$what" "$*" "$status" "$output"
  fi
}

# says WORDS: whether the output has them.
says() { [[ $output == *"$1"* ]]; }
silent_about() { [[ $output != *"$1"* ]]; }
ended_with() { [[ $status == "$1" ]]; }
absent() { [[ ! -e $1 ]]; }

# skip N WHY
skip() {
  skipped=$((skipped + $1))
  echo "skipped: $2"
}

# only COMMAND...: sets `PATH` to a folder that holds just these.
only() {
  local command folder=$work/only
  rm -rf "$folder"
  mkdir "$folder"
  for command in "$@"; do ln -s "$(PATH=$full_path command -v "$command")" "$folder/$command"; done
  PATH=$folder
}
full_path=$PATH

# fake NAME: a command with the text of standard input, in $work/bin.
fake() {
  mkdir -p "$work/bin"
  { echo '#!/usr/bin/env bash'; cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# fake_benchmarks: a compiler and a CMake whose build makes the benchmarks a copy of $work/bin/driver.
fake_benchmarks() {
  fake g++ <<<'echo 12'
  fake ninja <<<'exit 0'
  fake cmake <<'END'
[[ $1 == --build ]] || exit 0
mkdir -p "$2/benchmarks"
cp "$work/bin/driver" "$2/benchmarks/bench"
END
  fake with_torch <<<'exit 0'
}

# copy_project: makes $project, a copy of the scripts alone, and goes to a folder beside it. Fake commands come before
# all others and may note in $calls what they are called with.
copy_project() {
  project=$work/project
  calls=$work/calls
  export calls work
  mkdir -p "$project" "$work/bin" "$work/elsewhere"
  cp -r "$root/scripts" "$project/scripts"
  PATH=$work/bin:$PATH
  cd "$work/elsewhere"
  forget
}
# called WORDS: whether a call has been noted that has them.
called() { grep -qF -- "$1" "$calls"; }
not_called() { ! called "$1"; }
forget() { : >"$calls"; }

finish() {
  echo "[gpunet] $passed passed, $failed failed, $skipped skipped"
  [[ $failed == 0 ]]
}
