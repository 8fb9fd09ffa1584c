#!/usr/bin/env bash
# scripts/get_cifar10.sh with a made archive: six sparse files of the right size.
set -euo pipefail
. "$(dirname "$0")/testing.sh"

get=$root/scripts/get_cifar10.sh
archive=$work/archive.tar.gz
mkdir "$work/cifar-10-batches-bin"
for file in data_batch_{1,2,3,4,5}.bin test_batch.bin; do truncate -s 30730000 "$work/cifar-10-batches-bin/$file"; done
head -c 200000 /dev/urandom >"$work/cifar-10-batches-bin/batches.meta.txt"  # some weight, for breaking off
tar --sparse -C "$work" -czf "$archive" cifar-10-batches-bin
GPUNET_CIFAR10_URL=file://$archive
GPUNET_CIFAR10_MD5=$(md5sum <"$archive" | cut -d ' ' -f 1)
export GPUNET_CIFAR10_URL GPUNET_CIFAR10_MD5

# complete DIR: the six files and the text are there, and nothing else.
complete() { [[ $(ls -A "$1" | wc -l) == 7 && $(stat -c %s "$1/test_batch.bin") == 30730000 ]]; }
empty() { [[ -z $(ls -A "$1") ]]; }
part_of() { printf '%s' "$1/cifar-10-binary.tar.gz.part"; }

# Starts the server, sets the URL to it.
serve() {
  perl "$(dirname "$0")/http_server.pl" "$archive" "$@" >"$work/port" &
  background+=($!)
  until [[ -s $work/port ]]; do sleep 0.05; done
  GPUNET_CIFAR10_URL=http://127.0.0.1:$(<"$work/port")/archive.tar.gz
  rm "$work/port"
}

run "$get"
check "no folder is an error" says "usage: get_cifar10.sh DIR"
check "no folder ends with 1" ended_with 1

if command -v curl >/dev/null; then
  run "$get" "$work/a b/new"
  check "a new folder gets all files" complete "$work/a b/new"

  run env GPUNET_CIFAR10_URL=file:///nowhere "$get" "$work/a b/new"
  check "what is there is not fetched again" ended_with 0

  truncate -s 1000 "$work/a b/new/data_batch_3.bin"
  touch "$work/a b/new/mine.txt"
  run "$get" "$work/a b/new"
  check "a short file is replaced" test "$(stat -c %s "$work/a b/new/data_batch_3.bin")" == 30730000
  check "other files stay" test -e "$work/a b/new/mine.txt"

  mkdir "$work/half"
  head -c 100000 "$archive" >"$(part_of "$work/half")"
  run "$get" "$work/half"
  check "a half download goes on" complete "$work/half"

  mkdir "$work/whole"
  cp "$archive" "$(part_of "$work/whole")"
  run env GPUNET_CIFAR10_URL=file:///nowhere "$get" "$work/whole"
  check "a whole download is not fetched again" complete "$work/whole"

  run env GPUNET_CIFAR10_MD5=0123456789abcdef0123456789abcdef "$get" "$work/wrong"
  check "a wrong sum is an error" says "does not have the MD5 sum 0123456789abcdef0123456789abcdef"
  check "a wrong sum leaves nothing" empty "$work/wrong"

  run env GPUNET_CIFAR10_URL=http://127.0.0.1:1/archive.tar.gz "$get" "$work/offline"
  check "no network is an error" says "the download was interrupted"
  check "no network leaves nothing" empty "$work/offline"

  # No file may grow beyond 64 KiB, as on a full disk.
  # shellcheck disable=SC2016
  run bash -c 'trap "" XFSZ; ulimit -f 64; exec "$@"' - "$get" "$work/full"
  check "a full disk is an error" says "is the disk full?"
  check "a full disk leaves no data file" absent "$work/full/data_batch_1.bin"

  mkdir "$work/other"
  tar -C "$work" -czf "$work/other.tar.gz" cifar-10-batches-bin/batches.meta.txt
  run env "GPUNET_CIFAR10_URL=file://$work/other.tar.gz" \
    "GPUNET_CIFAR10_MD5=$(md5sum <"$work/other.tar.gz" | cut -d ' ' -f 1)" "$get" "$work/other"
  check "another archive is an error" says "does not contain six files"
  check "another archive leaves no data" absent "$work/other/batches.meta.txt"
else
  skip 14 "there is no curl"
fi

for tool in curl wget; do
  if ! command -v "$tool" >/dev/null || ! command -v perl >/dev/null; then
    skip 5 "there is no $tool or no perl"
    continue
  fi
  only bash cat cut dirname env head ls wc md5sum mkdir mktemp mv perl rm stat tar gzip sleep "$tool"

  serve cut=100000
  run "$get" "$work/$tool"
  check "$tool: a broken connection is an error" says "the download was interrupted"
  check "$tool: its part stays" test -s "$(part_of "$work/$tool")"
  serve
  run "$get" "$work/$tool"
  check "$tool: the next run goes on" complete "$work/$tool"

  head -c 1000000 /dev/zero >"$work/long"
  mkdir "$work/$tool-long"
  mv "$work/long" "$(part_of "$work/$tool-long")"
  run "$get" "$work/$tool-long"
  check "$tool: a part that is too long is started again" complete "$work/$tool-long"

  serve ranges=no
  mkdir "$work/$tool-no-ranges"
  head -c 1000 "$archive" >"$(part_of "$work/$tool-no-ranges")"
  run "$get" "$work/$tool-no-ranges"
  check "$tool: a server without ranges is asked for all" complete "$work/$tool-no-ranges"
  PATH=$full_path
done

only bash dirname stat mkdir mktemp rm md5sum
run "$get" "$work/no-tool"
PATH=$full_path
check "neither curl nor wget is an error" says "no curl and no wget"
check "neither curl nor wget leaves nothing" empty "$work/no-tool"

finish
