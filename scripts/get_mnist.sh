#!/usr/bin/env bash
# get_mnist.sh [--fashion] DIR: downloads the four files of MNIST (12 MB), or of FashionMNIST (31 MB), into DIR, still
# compressed by gzip. An interrupted download is continued. GPUNET_MNIST_URL is the address of another folder.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$root/scripts/download.sh"

name=MNIST url=https://ossci-datasets.s3.amazonaws.com/mnist
sums=(f68b3c2dcbeaaa9fbdd348bbdeb94873 d53e105ee54ea40749a09fcbcd1e9432
  9fb629c4189551a2d022fa330f9573f3 ec29112dd5afa0611ce80d1b7f02629c)
if [[ ${1:-} == --fashion ]]; then
  name=FashionMNIST url=http://fashion-mnist.s3-website.eu-central-1.amazonaws.com
  sums=(8d4fb7e6c68d591d4c3dfef9ec88bf0d 25c81989df183df01b3e8a0aad5dffbe
    bef4ecab320f06d8554ea6380940ec79 bb300cfdad3c16e7a12a480ee83cd310)
  shift
fi
[[ $# == 1 && $1 != -* ]] || fail "usage: get_mnist.sh [--fashion] DIR"
dir=$1
url=${GPUNET_MNIST_URL:-$url}
read -ra sums <<<"${GPUNET_MNIST_MD5:-${sums[*]}}"

mkdir -p "$dir" || fail "cannot create the folder $dir"
part=
trap '[[ -z $part || -s $part ]] || rm -f "$part"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

i=0
for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
  file=$file-ubyte.gz
  if ! has_sum "$dir/$file" "${sums[i]}"; then
    part=$dir/$file.part
    fetch "$part" "$url/$file" "${sums[i]}"
    mv -f "$part" "$dir/$file"
  fi
  i=$((i + 1))
done
say "$dir has all of $name"
