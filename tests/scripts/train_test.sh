#!/usr/bin/env bash
# scripts/train.sh as on a fresh machine: apt-get, cmake and the lesson only note what they are called with.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

fake g++ <<<'echo "${gxx_version:-12}"'
fake ninja <<<'exit 0'
fake apt-get <<'END'
echo "apt-get $*" >>"$calls"
[[ $* != *"${uninstallable:-nothing}"* ]] || { echo "E: Unable to locate package"; exit 100; }
[[ $* != *install*ninja-build* ]] || { printf '#!/bin/sh\n' >"$work/bin/ninja"; chmod +x "$work/bin/ninja"; }
END
fake cmake <<'END'
echo "cmake $*" >>"$calls"
[[ $1 == --build ]] || exit 0
[[ -z ${broken:-} ]] || { echo "the compiler's own words"; exit 1; }
mkdir -p "$2/examples"
cp "$work/bin/lesson" "$2/examples/01_cifar10"
printf '#!/usr/bin/env bash\necho "lesson 02 in $PWD:$(printf " <%%s>" "$@")"\n' >"$2/examples/02_iris"
chmod +x "$2/examples/02_iris"
END
fake lesson <<'END'
echo "the lesson in $PWD:$(printf ' <%s>' "$@")"
case ${1:-} in
  --exit) exit "$2" ;;
  --wait) trap 'exit 130' INT; echo $$ >"$work/pid"; for _ in {1..200}; do sleep 0.05; done ;;
esac
END
unset CXX CUDAHOSTCXX
only basename bash cat cp cut dirname env grep id mkdir mktemp printf rm sleep chmod
copy_project
train=$project/scripts/train.sh

run "$train" --data "my data" --help
check "the options reach the lesson, in the folder of the caller" \
  says "the lesson in $work/elsewhere: <--data> <my data> <--help>"
check "it tells what it does" says "building train"
check "with all there, apt-get is not called" not_called apt-get

run "$train" --exit 7
check "the exit status is the lesson's" ended_with 7

mkdir "$project/examples"
for name in 01_cifar10 02_iris; do : >"$project/examples/$name.cpp"; done
run "$train" 02 --csv leaves.csv
check "a lesson is chosen by its number" called "cmake --build $project/build/train --target 02_iris"
check "the options reach that one" says "lesson 02 in $work/elsewhere: <--csv> <leaves.csv>"
run "$train" 7
check "a lesson that is not there" says "train.sh: there is no lesson '7', want one of 01_cifar10 02_iris"
check "and nothing is run" silent_about "the lesson"

forget
for option in --help -h; do
  printf '// What lesson two is about,\n// in two lines.\n#include <x>\n// Code.\n' >"$project/examples/02_iris.cpp"
  run "$train" "$option"
  check "$option tells how the script is called" says "train.sh [LESSON] [option...]: builds a lesson"
  check "$option lists the lessons" says "  01_cifar10"
  check "$option says what each is about" says "  02_iris
    What lesson two is about,
    in two lines."
  check "$option shows nothing else of it" silent_about "Code"
  check "$option ends well" ended_with 0
  check "$option builds nothing" not_called cmake
  check "$option installs nothing" not_called apt-get
done
run "$train" 02 --help
check "a lesson tells its own options" says "lesson 02 in $work/elsewhere: <--help>"

broken=yes run "$train"
check "a build that fails shows its log" says "the compiler's own words"
check "a build that fails does not run the lesson" silent_about "the lesson in"
check "a build that fails ends with an error" ended_with 1

set -m
"$train" --wait >/dev/null 2>&1 &
script=$!
until [[ -s $work/pid ]]; do sleep 0.05; done
run test "$(<"$work/pid")" == "$script"
check "the lesson takes the place of the script" ended_with 0
kill -INT "$script"
status=0
wait "$script" || status=$?
check "Ctrl-C ends with the lesson's status" ended_with 130

# A machine without ninja.
rm "$work/bin/ninja"
forget
run "$train"
check "what is missing is installed" called "apt-get -q -y install --no-install-recommends ninja-build"
check "the lists are renewed before" called "apt-get -q -y update"
check "what is there is not installed" not_called "g++"
check "then it goes on" says "the lesson in"
forget
run "$train"
check "the next run leaves apt-get alone" not_called apt-get

rm "$work/bin/ninja"
uninstallable=update run "$train"
check "old lists are tried" says "the lesson in"

rm "$work/bin/ninja"
uninstallable=ninja-build run "$train"
check "a package that cannot be installed is named" says "the package ninja-build could not be installed"
check "and it stops" ended_with 1

fake id <<<'echo 1000'
forget
run "$train"
check "without root and sudo it says what to do" says "run as root: apt-get install ninja-build"
check "and calls nothing" not_called apt-get

fake sudo <<'END'
echo "sudo $*" >>"$calls"
exec "$@"
END
run "$train"
check "with sudo it installs" called "sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y install"

forget
gxx_version=11.4.0 run "$train"
check "beside an old g++ a newer one is installed" called "install --no-install-recommends g++-12"
CXX=mine gxx_version=11.4.0 run "$train"
check "a compiler that was named is taken" says "the lesson in"

rm "$work/bin/ninja" "$work/bin/apt-get"
run "$train"
check "without apt-get it names what is missing" says "missing: ninja-build (there is no apt-get here)"

finish
