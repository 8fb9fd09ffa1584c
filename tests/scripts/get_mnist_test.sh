#!/usr/bin/env bash
# scripts/get_mnist.sh with four made files.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

get=$root/scripts/get_mnist.sh
files=(train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz)
mkdir "$work/server"
GPUNET_MNIST_URL=file://$work/server GPUNET_MNIST_MD5=
for file in "${files[@]}"; do
  head -c 50000 /dev/urandom >"$work/server/$file"
  GPUNET_MNIST_MD5+="$(md5sum <"$work/server/$file" | cut -d ' ' -f 1) "
done
export GPUNET_MNIST_URL GPUNET_MNIST_MD5

# complete DIR: the four files are there, whole, and nothing else.
complete() { diff -r "$work/server" "$1" >/dev/null; }

run "$get"
check "no folder is an error" says "usage: get_mnist.sh [--fashion] DIR"
run "$get" --fashion
check "no folder is an error with --fashion too" says "usage: get_mnist.sh [--fashion] DIR"
run "$get" --other "$work/other"
check "another option is an error" ended_with 1
run "$get" "$work/server/${files[0]}/below"
check "a folder that cannot be made is an error" says "cannot create the folder"

if command -v curl >/dev/null; then
  run "$get" "$work/a b/new"
  check "a new folder gets all files" complete "$work/a b/new"
  check "the data's name is told" says "has all of MNIST"

  run env GPUNET_MNIST_URL=file:///nowhere "$get" --fashion "$work/a b/new"
  check "what is there is not fetched again" ended_with 0
  check "the other data's name is told" says "has all of FashionMNIST"

  truncate -s 100 "$work/a b/new/${files[2]}"
  run "$get" "$work/a b/new"
  check "a damaged file is replaced" complete "$work/a b/new"

  mkdir "$work/half"
  head -c 1000 "$work/server/${files[1]}" >"$work/half/${files[1]}.part"
  run "$get" "$work/half"
  check "a half download goes on" complete "$work/half"

  run env "GPUNET_MNIST_MD5=0 0 0 0" "$get" "$work/wrong"
  check "a wrong sum is an error" says "does not have the MD5 sum 0"
  check "a wrong sum leaves nothing" test -z "$(ls -A "$work/wrong")"

  run env GPUNET_MNIST_URL=http://127.0.0.1:1 "$get" "$work/offline"
  check "no network is an error" says "the download was interrupted"
  check "no network leaves nothing" test -z "$(ls -A "$work/offline")"
else
  skip 10 "there is no curl"
fi

finish
