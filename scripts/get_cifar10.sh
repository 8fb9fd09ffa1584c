#!/usr/bin/env bash
# get_cifar10.sh DIR: downloads the binary version of CIFAR-10 (162 MB) and unpacks its six files into DIR. An
# interrupted download is continued. GPUNET_CIFAR10_URL is another address.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$root/scripts/download.sh"

[[ $# == 1 && $1 != -* ]] || fail "usage: get_cifar10.sh DIR"
dir=$1
url=${GPUNET_CIFAR10_URL:-https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz}
md5=${GPUNET_CIFAR10_MD5:-c32a1d4ab5d03f1284b67883e8d87530}
bytes=30730000  # of each file: 10000 records of 3073 bytes

# Whether all six files are in the folder and complete.
has_all() {
  local file
  for file in data_batch_{1,2,3,4,5}.bin test_batch.bin; do
    [[ -f $1/$file && $(stat -c %s "$1/$file") == "$bytes" ]] || return 1
  done
}

if has_all "$dir"; then
  say "$dir has all of CIFAR-10"
  exit 0
fi

mkdir -p "$dir" || fail "cannot create the folder $dir"
part=$dir/cifar-10-binary.tar.gz.part
rm -rf "$dir"/.unpacking.*  # of a run that was killed
unpacked=$(mktemp -d "$dir/.unpacking.XXXXXX") || fail "cannot write to $dir"
trap 'rm -rf "$unpacked"; [[ -s $part ]] || rm -f "$part"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fetch "$part" "$url" "$md5"

say "unpacking into $dir"
tar -xzf "$part" -C "$unpacked" --strip-components=1 --no-same-owner ||
  fail "the archive could not be unpacked (is the disk full?), free some space and run this again"
has_all "$unpacked" || fail "the archive does not contain six files of $bytes bytes, look for another version of it"
mv -f "$unpacked"/* "$dir"
rm -f "$part"
say "$dir has all of CIFAR-10"
